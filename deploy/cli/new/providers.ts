/** Providers of webhooks that need no settings, and an event of each. */
export const exampleEvents: Readonly<Record<string, string>> = {
  bitbucket: "repo:push",
  gitea: "push",
  github: "push",
  gitlab: "Push Hook",
};

/** Names for `--webhook`. */
export const providers: readonly string[] = Object.keys(exampleEvents);

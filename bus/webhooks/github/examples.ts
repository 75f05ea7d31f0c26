/**
 * Payloads of the event `installation_target`, for tests. GitHub publishes no examples, so these follow its schema.
 * https://docs.github.com/en/webhooks/webhook-events-and-payloads#installation_target
 */

const sender = { login: "octocat", id: 1, type: "User", url: "https://api.github.com/users/octocat" };

const renamed = (target_type: string, account: object, changes: object): Record<string, unknown> => ({
  action: "renamed",
  account,
  changes,
  installation: { id: 2, node_id: "MDIzOkludGVncmF0aW9uSW5zdGFsbGF0aW9uMg==" },
  target_type,
  sender,
});

const loginOf = (login: string, type: string) => ({
  login,
  id: 7,
  node_id: "O_7",
  avatar_url: "https://avatars.example.com/u/7",
  html_url: `https://github.com/${login}`,
  url: `https://api.github.com/users/${login}`,
  type,
  description: "The account that was renamed",
});

/** Examples of an organization, a user, and an enterprise. */
export const installationTargetExamples: readonly Record<string, unknown>[] = [
  renamed("Organization", loginOf("Acme-Inc", "Organization"), { login: { from: "acme" } }),
  renamed("User", loginOf("hubot", "User"), { login: { from: "bot" } }),
  renamed(
    "Enterprise",
    {
      slug: "my-company",
      name: "My Company",
      id: 8,
      node_id: "E_8",
      avatar_url: "https://avatars.example.com/b/8",
      html_url: "https://github.com/enterprises/my-company",
    },
    { slug: { from: "our-company" } },
  ),
];

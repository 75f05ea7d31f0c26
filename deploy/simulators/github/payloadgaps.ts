/**
 * A stand-in for what the package `emulate` leaves out of the webhooks it sends, though GitHub always says it, or says
 * in another way.
 * https://docs.github.com/en/webhooks/webhook-events-and-payloads
 */

/** The payload of a webhook. */
export type Payload = Record<string, unknown>;

interface Commit {
  readonly id: string;
}

interface Repository {
  readonly html_url: string;
}

const nothing = "0".repeat(40);

/** Fields by the event that has them; those that are there already stay. */
const missing: Readonly<Record<string, (payload: Payload) => Payload>> = {
  push({ before, after, commits = [], sender, repository }) {
    const { login } = sender as { login: string };
    const { html_url } = repository as Repository;
    return {
      created: before === nothing,
      deleted: after === nothing,
      forced: false,
      base_ref: null,
      compare: `${html_url}/compare/${String(before).slice(0, 12)}...${String(after).slice(0, 12)}`,
      pusher: { name: login, email: `${login}@users.noreply.github.com` },
      commits,
      head_commit: (commits as Commit[]).find(({ id }) => id === after) ?? null,
    };
  },
  pull_request: ({ pull_request }) => ({ number: (pull_request as { number: number }).number }),
  create: () => ({ description: null, pusher_type: "user" }),
};

/** Where GitHub says something else. */
const different: Readonly<Record<string, (payload: Payload) => Payload>> = {
  // The page of the repository, and in no other webhook.
  push: ({ repository }) => ({
    repository: { ...(repository as object), url: (repository as Repository).html_url },
  }),
  // The bare name, unlike in a push.
  create: ({ ref }) => ({ ref: String(ref).replace(/^refs\/(heads|tags)\//, "") }),
};

/** The payload as GitHub has it. */
export const completed = (event: string, payload: Payload): Payload => ({
  ...missing[event]?.(payload),
  ...payload,
  ...different[event]?.(payload),
});

/**
 * Completes the webhook payloads of the package `emulate`: adds fields that GitHub always sends, and corrects values that
 * differ from GitHub's.
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

const zeroSha = "0".repeat(40);

/** Added fields by event; existing fields are kept. */
const missing: Readonly<Record<string, (payload: Payload) => Payload>> = {
  push({ before, after, commits = [], sender, repository }) {
    const { login } = sender as { login: string };
    const { html_url } = repository as Repository;
    return {
      created: before === zeroSha,
      deleted: after === zeroSha,
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

/** Fields whose values differ from GitHub's, by event. */
const different: Readonly<Record<string, (payload: Payload) => Payload>> = {
  // Only in a push, `url` is the page of the repository.
  push: ({ repository }) => ({
    repository: { ...(repository as object), url: (repository as Repository).html_url },
  }),
  // Unlike in a push, without `refs/heads/`.
  create: ({ ref }) => ({ ref: String(ref).replace(/^refs\/(heads|tags)\//, "") }),
};

/** The payload as GitHub sends it. */
export const completed = (event: string, payload: Payload): Payload => ({
  ...missing[event]?.(payload),
  ...payload,
  ...different[event]?.(payload),
});

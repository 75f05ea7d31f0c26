/**
 * The user's actions on pull requests. Sends the webhooks that the package `emulate` does not send, or sends incorrectly.
 */
import type { Mergeability, Pull, Pulls } from "./pulls.ts";
import type { Restrictions } from "./restrictions.ts";
import { user } from "./seed.ts";
import type { Timelines } from "./timeline.ts";
import type { UserApi } from "./userrequests.ts";

/** Identifies a pull request. */
export interface PullName {
  readonly repository: string;
  readonly number: number;
}

/** Actions on pull requests. */
export interface PullRequestActions {
  closePullRequest(pull: PullName): Promise<void>;
  reopenPullRequest(pull: PullName): Promise<void>;
  /** Merges it and updates its base branch. */
  mergePullRequest(pull: PullName): Promise<void>;
  /** Creates the label if it does not exist. `by` defaults to the user. */
  addLabel(pull: PullName & { readonly label: string; readonly by?: string }): Promise<void>;
  /** Approves the last commit, or the given one. Sends no webhook. */
  approve(pull: PullName & { readonly commit?: string; readonly by?: string }): Promise<void>;
  removeLabel(pull: PullName & { readonly label: string }): Promise<void>;
  convertToDraft(pull: PullName): Promise<void>;
  markReadyForReview(pull: PullName): Promise<void>;
  /** Afterward only members can comment; Apps cannot. */
  lockConversation(pull: PullName): Promise<void>;
  unlockConversation(pull: PullName): Promise<void>;
  /** Creates the branch if it does not exist. */
  changeBase(pull: PullName & { readonly base: string }): Promise<void>;
  /** Pull requests from the fork stay open, without a head repository. */
  deleteFork(fork: string): void;
  /**
   * Sets the mergeability, now and for later commits. It defaults to mergeable. The first read, and the first read after
   * the head or base has moved, returns unknown, as GitHub does while it computes.
   */
  mergeability(repository: string, number: number, outcome: Mergeability): void;
}

/** Dependencies of the actions. */
export interface PullActionParts {
  readonly api: UserApi;
  readonly pulls: Pulls;
  readonly timelines: Timelines;
  readonly restrictions: Pick<Restrictions, "lock" | "unlock">;
  readonly announce: (repository: string, event: string, payload: Record<string, unknown>) => void;
}

/** Sends a webhook with the current pull request. */
type SendWebhook = (repository: string, number: number, payload: Record<string, unknown>) => Promise<void>;

/** The actions; `announce` sends a webhook with the current pull request. */
export function pullRequestActions(parts: PullActionParts): {
  readonly ofUser: PullRequestActions;
  readonly announce: SendWebhook;
} {
  const { api, pulls, restrictions } = parts;
  const sendWebhook = webhookSender(parts);

  async function setDraft({ repository, number }: PullName, draft: "draft" | "ready"): Promise<void> {
    await api("PATCH", pathOf({ repository, number }), { draft: draft === "draft" });
    const action = draft === "draft" ? "converted_to_draft" : "ready_for_review";
    await sendWebhook(repository, number, { action });
  }

  return {
    announce: sendWebhook,
    ofUser: {
      ...labelsAndReviews(parts, sendWebhook),
      async closePullRequest(pull) {
        await api("PATCH", pathOf(pull), { state: "closed" });
      },
      async reopenPullRequest(pull) {
        await api("PATCH", pathOf(pull), { state: "open" });
      },
      async mergePullRequest(pull) {
        const { base } = await api<Pull>("GET", pathOf(pull));
        const { sha } = await api<{ sha: string }>("PUT", `${pathOf(pull)}/merge`, {});
        pulls.moveBase(pull.repository, base.ref, sha);
      },
      convertToDraft: (pull) => setDraft(pull, "draft"),
      markReadyForReview: (pull) => setDraft(pull, "ready"),
      async lockConversation({ repository, number }) {
        restrictions.lock(repository, number);
        await sendWebhook(repository, number, { action: "locked" });
      },
      async unlockConversation({ repository, number }) {
        restrictions.unlock(repository, number);
        await sendWebhook(repository, number, { action: "unlocked" });
      },
      async changeBase({ base, ...pull }) {
        const before = await api<Pull>("GET", pathOf(pull));
        await api("PATCH", pathOf(pull), { base });
        await sendWebhook(pull.repository, pull.number, {
          action: "edited",
          changes: { base: { ref: { from: before.base.ref }, sha: { from: before.base.sha } } },
        });
      },
      deleteFork: (fork) => pulls.deleteFork(fork),
      mergeability: (repository, number, outcome) => pulls.decide(repository, number, outcome),
    },
  };
}

const pathOf = ({ repository, number }: PullName): string => `/repos/${repository}/pulls/${number}`;

const labelsPathOf = ({ repository, number }: PullName): string =>
  `/repos/${repository}/issues/${number}/labels`;

function webhookSender({ api, announce }: PullActionParts): SendWebhook {
  return async (repository, number, payload) => {
    const pull_request = await api<Pull>("GET", pathOf({ repository, number }));
    announce(repository, "pull_request", {
      number,
      pull_request,
      repository: await api("GET", `/repos/${repository}`),
      sender: payload.action === "synchronize" ? pull_request.user : await api("GET", "/user"),
      ...payload,
    });
  };
}

/** The actions that also add an event to the timeline. */
function labelsAndReviews(
  { api, pulls, timelines }: PullActionParts,
  sendWebhook: SendWebhook,
): Pick<PullRequestActions, "addLabel" | "approve" | "removeLabel"> {
  function recordEvent({ repository, number }: PullName, event: Readonly<Record<string, unknown>>): void {
    pulls.touch(repository, number, timelines.add(repository, number, event));
  }

  return {
    async addLabel({ label, by = user.login, ...pull }) {
      const labels = await api<{ name: string }[]>("POST", labelsPathOf(pull), { labels: [label] });
      recordEvent(pull, { event: "labeled", actor: { login: by }, label: { name: label } });
      await sendWebhook(pull.repository, pull.number, {
        action: "labeled",
        label: labels.find(({ name }) => name === label),
      });
    },
    async approve({ commit, by = user.login, ...pull }) {
      const commit_id = commit ?? (await api<Pull>("GET", pathOf(pull))).head.sha;
      recordEvent(pull, { event: "reviewed", state: "approved", user: { login: by }, commit_id });
    },
    async removeLabel({ label, ...pull }) {
      const found = await api("GET", `/repos/${pull.repository}/labels/${encodeURIComponent(label)}`);
      await api("DELETE", `${labelsPathOf(pull)}/${encodeURIComponent(label)}`);
      recordEvent(pull, { event: "unlabeled", actor: { login: user.login }, label: { name: label } });
      await sendWebhook(pull.repository, pull.number, { action: "unlabeled", label: found });
    },
  };
}

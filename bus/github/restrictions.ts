/**
 * Responses of GitHub that look like missing permissions or invalid input but have another cause, such as a locked conversation
 * or an archived repository. Only their message distinguishes them.
 * https://docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api
 */
import { isAboutRepository, type RefusedAnswer } from "./advice.ts";

/** A cause, and what to do about it. */
export interface Restriction {
  /** Reason of the condition. */
  readonly reason: string;
  /** Advice, as a sentence without its full stop. */
  readonly advice: string;
}

/** The first match counts. */
const restrictions: readonly (Restriction & {
  readonly statuses: readonly number[];
  readonly words: RegExp;
})[] = [
  {
    reason: "RepositoryArchived",
    statuses: [403],
    words: /repository (was|is|has been) archived|archived so is read-only/i,
    advice:
      "The repository is archived, so nothing can be written to it: unarchive it, or delete what reports to it",
  },
  {
    // https://docs.github.com/en/communities/moderating-comments-and-conversations/locking-conversations
    reason: "ConversationLocked",
    statuses: [400, 403, 422],
    words: /\b(issue|pull request|conversation) (is|has been|was) locked/i,
    advice: "The conversation of the pull request is locked: unlock it, or turn comments off",
  },
  {
    reason: "IssuesDisabled",
    statuses: [403, 410, 422],
    words: /issues (are|is|have been|has been) disabled/i,
    advice: "Issues are disabled in the settings of the repository: enable them, or turn comments off",
  },
  {
    // https://docs.github.com/en/communities/moderating-comments-and-conversations/limiting-interactions-in-your-repository
    reason: "InteractionsLimited",
    statuses: [403, 422],
    words:
      /limited the ability to (comment|interact)|interactions? (on|in|with) this repository (are|is|have been|has been) (limited|restricted)/i,
    advice:
      "Interactions are limited in the repository: end the limit, wait for its end, or turn comments off",
  },
  {
    reason: "UserBlocked",
    statuses: [403, 422],
    words: /\b(user|you|author|account) (is|are|was|were|has been|have been) blocked/i,
    advice:
      "The owner of the repository, or the author of the pull request, has blocked the account of the token: have it unblocked, or turn comments off",
  },
  {
    reason: "TooLong",
    statuses: [422],
    words: /\bis too long\b/i,
    advice: "GitHub takes no text of that length: shorten what the message names",
  },
  {
    // https://docs.github.com/en/rest/commits/statuses#create-a-commit-status
    reason: "TooManyStatuses",
    statuses: [422],
    words: /reached the maximum number of statuses/i,
    advice: "GitHub keeps at most 1000 statuses of a commit and a context: push another commit",
  },
  {
    reason: "InstallationSuspended",
    statuses: [403],
    words: /installation has been suspended/i,
    advice: "The installation of the App is suspended: have its owner unsuspend it on its page at GitHub",
  },
  {
    // https://docs.github.com/en/organizations/keeping-your-organization-secure/managing-security-settings-for-your-organization/managing-allowed-ip-addresses-for-your-organization
    reason: "AddressNotAllowed",
    statuses: [403],
    words: /IP allow list/i,
    advice:
      "The owner of the repository allows some IP addresses only: have the cluster's outgoing address allowed",
  },
  {
    reason: "RepositoryBlocked",
    statuses: [403, 451],
    words: /repository access blocked|repository (has been|is) (disabled|blocked)/i,
    advice: "GitHub has disabled the repository: its owner has to ask GitHub Support",
  },
];

/** The restriction behind a rejected call about a repository; undefined if the status is the cause. `said`: GitHub's message. */
export const restrictionOf = (
  { request, status }: Pick<RefusedAnswer, "request" | "status">,
  said: string,
): Restriction | undefined =>
  isAboutRepository(request)
    ? restrictions.find(({ statuses, words }) => statuses.includes(status) && words.test(said))
    : undefined;

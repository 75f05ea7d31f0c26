/**
 * Bitbucket Cloud and Bitbucket Data Center.
 * https://support.atlassian.com/bitbucket-cloud/docs/event-payloads/
 * https://confluence.atlassian.com/bitbucketserver/event-payload-938025882.html
 */
import { builtInProvider } from "../provider.ts";
import { signatures } from "../signatures.ts";

const cloud = [
  "issue:comment_created",
  "issue:created",
  "issue:updated",
  "project:updated",
  "pullrequest:approved",
  "pullrequest:changes_request_created",
  "pullrequest:changes_request_removed",
  "pullrequest:comment_created",
  "pullrequest:comment_deleted",
  "pullrequest:comment_reopened",
  "pullrequest:comment_resolved",
  "pullrequest:comment_updated",
  "pullrequest:created",
  "pullrequest:fulfilled",
  "pullrequest:push",
  "pullrequest:rejected",
  "pullrequest:unapproved",
  "pullrequest:updated",
  "repo:commit_comment_created",
  "repo:commit_status_created",
  "repo:commit_status_updated",
  "repo:created",
  "repo:deleted",
  "repo:fork",
  "repo:imported",
  "repo:push",
  "repo:transfer",
  "repo:updated",
] as const;

const dataCenter = [
  "mirror:repo_synchronized",
  "pr:comment:added",
  "pr:comment:deleted",
  "pr:comment:edited",
  "pr:declined",
  "pr:deleted",
  "pr:from_ref_updated",
  "pr:merged",
  "pr:modified",
  "pr:opened",
  "pr:reviewer:approved",
  "pr:reviewer:changes_requested",
  "pr:reviewer:needs_work",
  "pr:reviewer:unapproved",
  "pr:reviewer:updated",
  "project:modified",
  "repo:comment:added",
  "repo:comment:deleted",
  "repo:comment:edited",
  "repo:forked",
  "repo:modified",
  "repo:refs_changed",
  "repo:secret_detected",
] as const;

/** Bitbucket Cloud and Bitbucket Data Center. All events need a `select`. */
export const bitbucket = builtInProvider({
  name: "bitbucket",
  signature: signatures.hmac({ header: "X-Hub-Signature", prefix: "sha256=" }),
  event: { header: "X-Event-Key" },
  // Of Cloud, and of Data Center.
  delivery: [{ header: "X-Request-UUID" }, { header: "X-Request-Id" }],
  pings: ["diagnostics:ping"],
  attributes: (event) => ({
    type: `org.bitbucket.${event.replaceAll(":", ".")}`,
    source: ["repository.links.html.href"],
    subject: ["pullrequest.id", "pullRequest.id", "issue.id"],
    // Of Cloud; the others are of Data Center.
    fullName: ["repository.full_name"],
    owner: ["repository.project.key", "pullRequest.toRef.repository.project.key"],
    repository: ["repository.slug", "pullRequest.toRef.repository.slug"],
  }),
  events: [...cloud, ...dataCenter],
  deliveriesAt: "under View requests on the page of the webhook",
});

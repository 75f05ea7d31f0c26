/** GitLab: https://docs.gitlab.com/user/project/integrations/webhook_events/ */
import { builtInProvider } from "../provider.ts";
import { isStandardSecret, signatures } from "../signatures.ts";

const suffix = / Hook$/;

/**
 * GitLab. A secret that begins with `whsec_` is a signing token. Every other one is a secret token, which GitLab sends in a header. All
 * events need a `select`.
 */
export const gitlab = builtInProvider({
  name: "gitlab",
  signature: signatures.anyOf(
    [signatures.token({ header: "X-Gitlab-Token" }), signatures.standard()],
    (secret) => (isStandardSecret(secret) ? 1 : 0),
  ),
  event: { header: "X-Gitlab-Event" },
  // The same for every retry. Versions before 17.4 have only the other one.
  delivery: [{ header: "Idempotency-Key" }, { header: "X-Gitlab-Event-UUID" }],
  attributes: (event) => ({
    type: `com.gitlab.${event.replace(suffix, "").toLowerCase().replaceAll(" ", "_")}`,
    ending: ["object_attributes.action"],
    source: ["project.web_url", "group.web_url"],
    subject: ["object_attributes.iid", "object_attributes.id", "ref"],
    fullName: ["project.path_with_namespace", "group.full_path"],
  }),
  events: [
    "Access Token Hook",
    "Confidential Issue Hook",
    "Confidential Note Hook",
    "Deployment Hook",
    "Emoji Hook",
    "Feature Flag Hook",
    "Issue Hook",
    "Job Hook",
    "Member Hook",
    "Merge Request Hook",
    "Milestone Hook",
    "Note Hook",
    "Pipeline Hook",
    "Project Hook",
    "Push Hook",
    "Release Hook",
    "Resource Access Token Hook",
    "Resource Deploy Token Hook",
    "Subgroup Hook",
    "System Hook",
    "Tag Push Hook",
    "Vulnerability Hook",
    "Wiki Page Hook",
  ],
  deliveriesAt: "under Recent events on the page of the webhook",
});

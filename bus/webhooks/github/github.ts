/** GitHub: https://docs.github.com/en/webhooks */
import type { z } from "zod";
import { builtInProvider, type Provider } from "../provider.ts";
import { signatures } from "../signatures.ts";
import { githubAttributes } from "./attributes.ts";
import type { GitHubEventName } from "./names.ts";
import { webhookPayloads } from "./payloads.ts";

/**
 * GitHub and GitHub Enterprise Server. The events of {@link webhookPayloads} have schemas, and all others need a `select`.
 *
 * @example
 * ```ts
 * webhooks: [
 *   github.on("push", { keys: ({ owner, repository }, find) => find("repository", `${owner}/${repository}`) }),
 *   github.on("release", {
 *     select: z.object({ release: z.object({ tag_name: z.string() }) }),
 *     keys: ({ owner, repository }, find) => find("repository", `${owner}/${repository}`),
 *   }),
 * ],
 * ```
 */
export const github = builtInProvider({
  name: "github",
  // https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
  signature: signatures.hmac({ header: "X-Hub-Signature-256", prefix: "sha256=" }),
  event: { header: "X-GitHub-Event" },
  delivery: { header: "X-GitHub-Delivery" },
  pings: ["ping"],
  attributes: githubAttributes,
  events: webhookPayloads as Readonly<Record<string, z.ZodType>>,
  deliveriesAt: "under Advanced, Recent Deliveries in the settings of the GitHub App",
}) as Provider<GitHubEventName, typeof webhookPayloads>;

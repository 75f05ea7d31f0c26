/** GitHubApp and ClusterGitHubApp: checks the App's key, and requests redelivery of missed webhooks. */
import {
  BlockedError,
  type ConditionUpdate,
  type Context,
  defineFunction,
  type Kind,
  keyText,
  type ReconcileFunction,
  redacted,
  Secret,
  type Stored,
} from "denrei";
import { type GitHubAppClient, GitHubError, withGitHub } from "denrei/github";
import { minutes } from "denrei/values";
import { backfill } from "./backfill.ts";
import { clientOf, keyOf, keySecretOf } from "./connect.ts";
import type { GitHubApp } from "./kinds.ts";

/** How often to check for missed webhooks. */
const backfillMillis = minutes(5);
/** The recorded time advances in steps, because each write of the status enqueues the App's Installations. */
const checkedStepMillis = minutes(60);

/** The function for one of the two kinds. They differ in their scope and in the location of their key. */
export const appFunction = (name: string, kind: Kind<GitHubApp>): ReconcileFunction =>
  defineFunction<GitHubApp>({
    name,
    for: kind,
    indexes: { key: (app) => [keyText(keySecretOf(app))] },
    watches: [
      {
        kind: Secret,
        keys: ({ metadata: { namespace = "", name } }, find) => find("key", keyText({ namespace, name })),
      },
    ],
    sweepMillis: backfillMillis,
    outbound: { github: true },
    async reconcile(app, ctx) {
      const key = await keyOf(app, ctx);
      const client = clientOf(app, key);
      const { id, slug } = await withGitHub("Key", () => client.self(ctx.signal));
      if (id !== app.spec.appID)
        throw new BlockedError(
          "WrongApp",
          `the key belongs to the App ${id} (${slug}), not to the App ${app.spec.appID}`,
          backfillMillis,
        );
      const webhooks = await deliver(app, client, ctx);
      await ctx.status(kind, app, { slug, keyFingerprint: key.fingerprint, ...webhooks.status }, [
        {
          type: "Ready",
          status: "True",
          reason: "Authenticated",
          message: `authenticated as ${slug}`,
        },
        webhooks.condition,
      ]);
      if (app.status?.keyFingerprint !== key.fingerprint)
        ctx.log.info({ slug, keyFingerprint: key.fingerprint }, "authenticated with a new key");
      return { requeueAfter: backfillMillis };
    },
  });

const type = "WebhooksDelivered";

function deliveredAs(missing: number, refused: number): ConditionUpdate {
  if (missing > 0)
    return {
      type,
      status: "False",
      reason: "Redelivering",
      message: "webhooks did not arrive, requesting redelivery",
    };
  if (refused > 0)
    return {
      type,
      status: "False",
      reason: "Refused",
      message:
        "the gateway answered webhooks with 422 because it could not parse their payload. They are not redelivered. See the gateway's log for the error.",
    };
  return { type, status: "True", reason: "Delivered", message: "" };
}

/** Requests redelivery of missed webhooks. A failure does not affect the App's readiness. */
async function deliver(
  app: Stored<GitHubApp>,
  client: GitHubAppClient,
  ctx: Context,
): Promise<{ status: { deliveriesCheckedUntil?: string }; condition: ConditionUpdate }> {
  const before = Date.parse(app.status?.deliveriesCheckedUntil ?? "") || 0;
  try {
    const { toRedeliver, missing, refused, until } = await backfill(client, {
      checkedUntil: before,
      now: ctx.now(),
      signal: ctx.signal,
      assertOwned: ctx.assertOwned,
    });
    if (toRedeliver.length > 0) {
      ctx.log.info(
        { deliveries: toRedeliver.length },
        "requested redelivery of webhooks that did not arrive",
      );
      ctx.event(
        "Warning",
        "WebhooksNotDelivered",
        `${missing} webhooks did not arrive, requesting redelivery`,
      );
    }
    const moved = until - before >= checkedStepMillis;
    return {
      status: moved ? { deliveriesCheckedUntil: new Date(until).toISOString() } : {},
      condition: deliveredAs(missing, refused),
    };
  } catch (error) {
    if (!(error instanceof GitHubError)) throw error;
    const message = redacted(error.message);
    ctx.log.warn({ err: error }, "failed to list webhook deliveries");
    return { status: {}, condition: { type, status: "Unknown", reason: "NotListed", message } };
  }
}

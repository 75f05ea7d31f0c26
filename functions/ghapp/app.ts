/** GitHubApp and ClusterGitHubApp: whether the App's key is good, and that its webhooks arrive. */

import type { GitHubAppClient } from "../../bus/github/app.ts";
import { withGitHub } from "../../bus/github/blocked.ts";
import { GitHubError } from "../../bus/github/errors.ts";
import type { ConditionUpdate } from "../../bus/kube/conditions.ts";
import { type Kind, Secret } from "../../bus/kube/kind.ts";
import type { Stored } from "../../bus/kube/object.ts";
import { keyText } from "../../bus/subjects.ts";
import { redacted } from "../../bus/values/redact.ts";
import { BlockedError } from "../../bus/worker/errors.ts";
import { type Context, defineFunction, type ReconcileFunction } from "../../bus/worker/function.ts";
import { backfill } from "./backfill.ts";
import { clientOf, keyOf, keySecretOf } from "./connect.ts";
import type { GitHubApp } from "./kinds.ts";

const minutes = (n: number): number => n * 60_000;

/** How often GitHub is asked which webhooks did not arrive. */
const backfillMillis = minutes(5);
/** The status moves on in steps: each write of it is an event that wakes the App's Installations. */
const checkedStepMillis = minutes(60);

/** The function of one of the two kinds: they differ in where they are, and where their key is. */
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
          `expected the key of the App ${app.spec.appID}, found that of the App ${id} (${slug})`,
          backfillMillis,
        );
      const webhooks = await deliver(app, client, ctx);
      await ctx.status(kind, app, { slug, keyFingerprint: key.fingerprint, ...webhooks.status }, [
        {
          type: "Ready",
          status: "True",
          reason: "Authenticated",
          message: `GitHub knows the App as ${slug}`,
        },
        webhooks.condition,
      ]);
      if (app.status?.keyFingerprint !== key.fingerprint)
        ctx.log.info({ slug, keyFingerprint: key.fingerprint }, "GitHub knows the App by this key");
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
      message: "webhooks did not arrive and are asked for again",
    };
  if (refused > 0)
    return {
      type,
      status: "False",
      reason: "Refused",
      message:
        "the gateway answered webhooks with 422: it cannot read their payload, and they are not asked for again. The gateway's log says what does not fit.",
    };
  return { type, status: "True", reason: "Delivered", message: "" };
}

/** Asks for webhooks that did not arrive. Whatever becomes of it, the App itself is fine. */
async function deliver(
  app: Stored<GitHubApp>,
  client: GitHubAppClient,
  ctx: Context,
): Promise<{ status: { deliveriesCheckedUntil?: string }; condition: ConditionUpdate }> {
  const before = Date.parse(app.status?.deliveriesCheckedUntil ?? "") || 0;
  try {
    const { again, missing, refused, until } = await backfill(client, {
      checkedUntil: before,
      now: ctx.now(),
      signal: ctx.signal,
      assertOwned: ctx.assertOwned,
    });
    if (again.length > 0) {
      ctx.log.info({ deliveries: again.length }, "webhooks that did not arrive are delivered again");
      ctx.event(
        "Warning",
        "WebhooksNotDelivered",
        `${missing} webhooks did not arrive and are asked for again`,
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
    ctx.log.warn({ err: error }, "not known whether webhooks have arrived");
    return { status: {}, condition: { type, status: "Unknown", reason: "NotListed", message } };
  }
}

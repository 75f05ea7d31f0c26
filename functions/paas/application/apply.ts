/** Applies an Application's objects, and prunes those that the chart no longer renders. */

import { BlockedError, type Context, type Kind, type KubeObject, type NewChild, type Stored } from "denrei";
import { childKinds } from "../charts/kinds.ts";
import type { ChildObject } from "../charts/validate.ts";
import type { Application } from "../kinds/application.ts";
import { refusalOf, refusalOfAll } from "./applyerror.ts";
import { ownObject } from "./hosting.ts";
import { kindOf, knownUid, type Resource } from "./inventory.ts";
import { howToGrant, howToList, listingProblem } from "./kindadvice.ts";

type App = Stored<Application>;

/** Applies all objects, of built-in and of listed kinds. A refused object does not keep the others from being applied. */
export async function applyAll(
  objects: readonly ChildObject[],
  before: readonly Resource[],
  listed: readonly Kind[],
  ctx: Context,
): Promise<{ readonly children: readonly Stored[]; readonly refusal: BlockedError | undefined }> {
  const children: Stored[] = [];
  const refused: BlockedError[] = [];
  for (const object of objects) {
    const builtIn = kindOf(object, childKinds);
    const kind = builtIn ?? (kindOf(object, listed) as Kind);
    try {
      children.push(await ctx.apply(kind, childOf(object), { uid: knownUid(before, object) }));
    } catch (error) {
      refused.push(builtIn ? refusalOf(error, object) : await refusalOfListed(error, object, kind, ctx));
    }
  }
  return { children, refusal: refusalOfAll(refused) };
}

async function refusalOfListed(
  error: unknown,
  object: ChildObject,
  kind: Kind,
  ctx: Context,
): Promise<BlockedError> {
  const refusal = refusalOf(error, object, {
    hints: { Forbidden: `The site lists the kind, but its roles are missing: ${howToGrant}.` },
  });
  if (refusal.reason !== "KindNotInstalled") return refusal;
  const wrong = await listingProblem(kind, ctx.live);
  return wrong === undefined ? refusal : refusalOf(error, object, { hints: { KindNotInstalled: wrong } });
}

function childOf({
  apiVersion: _,
  kind: __,
  metadata: { namespace: ___, ...metadata },
  ...content
}: ChildObject) {
  return { ...content, metadata } as unknown as NewChild<KubeObject>;
}

/**
 * Deletes objects that the chart no longer renders. If the rights for a listed kind were withdrawn too early, its objects are
 * returned: they stay in the inventory, and the refusal says what to do.
 */
export async function pruneAll(
  app: App,
  resources: readonly Resource[],
  listed: readonly Kind[],
  ctx: Context,
): Promise<{ readonly left: readonly Resource[]; readonly refusal: BlockedError | undefined }> {
  const left: Resource[] = [];
  const refused: BlockedError[] = [];
  for (const resource of resources) {
    try {
      await prune(app, resource, ctx);
    } catch (error) {
      if (kindOf(resource, childKinds) !== undefined) throw error;
      refused.push(await refusalOfPruning(error, resource, listed, ctx));
      left.push(resource);
    }
  }
  return { left, refusal: refusalOfAll(refused) };
}

async function prune(app: App, resource: Resource, ctx: Context): Promise<void> {
  const own = await ownObject(app, resource, ctx);
  if (own === undefined) return;
  await ctx.delete(own.kind, own.object);
  ctx.event(
    "Normal",
    "Pruned",
    `deleted the ${resource.kind} ${resource.name}, which the chart no longer renders`,
  );
}

/** Without the rights to read an object the platform cannot see its deletion, so deleting it by hand does not help. */
async function refusalOfPruning(
  error: unknown,
  { apiVersion, kind, name }: Resource,
  listed: readonly Kind[],
  ctx: Context,
): Promise<BlockedError> {
  const isListed = kindOf({ apiVersion, kind }, listed) !== undefined;
  const served = isListed ? undefined : await ctx.live.kind(apiVersion, kind);
  const what = served
    ? `The chart no longer renders it, and the site no longer lists its kind. To have it deleted, ${howToList(served)}. Remove the line after that.`
    : `The chart no longer renders it. To have it deleted, ${howToGrant}.`;
  const refusal = refusalOf(
    error,
    { apiVersion, kind, metadata: { name, namespace: "" } },
    { hints: { Forbidden: what }, does: "does not let the platform delete" },
  );
  return new BlockedError("NotPruned", refusal.message, refusal.retryAfterMillis, { cause: refusal });
}

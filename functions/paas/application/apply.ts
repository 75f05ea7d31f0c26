/** Applying what an Application is to have, and taking away what it is not to have any more. */
import type { Kind } from "../../../bus/kube/kind.ts";
import type { KubeObject, Stored } from "../../../bus/kube/object.ts";
import { BlockedError } from "../../../bus/worker/errors.ts";
import type { Context, NewChild } from "../../../bus/worker/function.ts";
import { childKinds } from "../charts/kinds.ts";
import type { ChildObject } from "../charts/validate.ts";
import type { Application } from "../kinds/application.ts";
import { ownObject } from "./hosting.ts";
import { kindOf, knownUid, type Resource } from "./inventory.ts";
import { refusalOf, refusalOfAll } from "./refusal.ts";
import { howListedWrong, howToGrant, howToList } from "./unlisted.ts";

type App = Stored<Application>;

/** Applies all objects, of kinds that charts may always make and of listed ones. What is refused keeps none of the others from being applied. */
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
    hints: { Forbidden: `The site lists the kind: ${howToGrant}.` },
  });
  if (refusal.reason !== "KindNotInstalled") return refusal;
  const wrong = await howListedWrong(kind, ctx.live);
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
 * Deletes objects that the chart no longer makes. Objects of a kind whose rights were withdrawn too early are returned: they
 * stay in the inventory, and the refusal says what to do.
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
    `the ${resource.kind} ${resource.name} is not wanted any more and was deleted`,
  );
}

/** The platform has to see that it is gone, so deleting it by hand is not enough without the rights. */
async function refusalOfPruning(
  error: unknown,
  { apiVersion, kind, name }: Resource,
  listed: readonly Kind[],
  ctx: Context,
): Promise<BlockedError> {
  const isListed = kindOf({ apiVersion, kind }, listed) !== undefined;
  const served = isListed ? undefined : await ctx.live.kind(apiVersion, kind);
  const what = served
    ? `The chart does not make it any more, and the site does not list its kind any more. To have it deleted, ${howToList(served)}. When it is gone, the line can go.`
    : `The chart does not make it any more. To have it deleted, ${howToGrant}.`;
  const refusal = refusalOf(
    error,
    { apiVersion, kind, metadata: { name, namespace: "" } },
    { hints: { Forbidden: what }, does: "does not let the platform delete" },
  );
  return new BlockedError("NotPruned", refusal.message, refusal.retryAfterMillis, { cause: refusal });
}

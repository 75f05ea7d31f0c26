/**
 * Application: the objects that its chart makes are applied, kept as they are wanted, and taken away when they are not
 * wanted any more. Whatever goes wrong with the chart, what runs goes on.
 */
import { ApiError, isForbidden, isInvalid, isNotFound } from "../../bus/kube/errors.ts";
import type { Kind } from "../../bus/kube/kind.ts";
import { controllerOf, type KubeObject, type Stored } from "../../bus/kube/object.ts";
import { BlockedError } from "../../bus/worker/errors.ts";
import { type Context, defineFunction, type NewChild } from "../../bus/worker/function.ts";
import {
  announced,
  isSame,
  kindOf,
  knownUid,
  obsolete,
  type Resource,
  resourceOf,
} from "./application/inventory.ts";
import { objectsOf } from "./application/render.ts";
import type { Deployment } from "./application/rollout.ts";
import { applied, failedAt } from "./application/status.ts";
import { ChartError } from "./charts/chart.ts";
import { childKinds } from "./charts/kinds.ts";
import type { ChildObject } from "./charts/validate.ts";
import { Application } from "./kinds.ts";
import { patience } from "./problems.ts";
import { siteIndex, siteOf, watchSite } from "./site/site.ts";

type App = Stored<Application>;

export default defineFunction({
  name: "modoki-application",
  fieldManager: "modoki-application",
  for: Application,
  owns: childKinds,
  indexes: siteIndex,
  watches: [watchSite],
  async reconcile(app, ctx) {
    const { site, objects } = await step("Rendered", app, ctx, async () => {
      const site = await siteOf(ctx);
      return { site, objects: await objectsOf(app, site, ctx.signal) };
    });
    const before = app.status?.resources ?? [];
    const resources = announced(before, objects);
    const listed = await ctx.status(Application, app, { resources: [...resources] });
    const children = await step("Applied", listed, ctx, async () => {
      const children = await applyAll(objects, before, ctx);
      for (const resource of obsolete(resources, objects)) await prune(listed, resource, ctx);
      return children;
    });
    const deployments = children.filter(({ kind }) => kind === "Deployment") as Stored<Deployment>[];
    const { scheme } = site.config.site;
    const { status, conditions } = applied(listed, { deployments, scheme, now: new Date() });
    await ctx.status(Application, listed, { ...status, resources: children.map(resourceOf) }, conditions);
    return undefined;
  },
});

/** Does a step; when somebody has to change something before it can be done, the object says so. */
async function step<T>(
  name: "Rendered" | "Applied",
  app: App,
  ctx: Context,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const blocked =
      error instanceof ChartError
        ? new BlockedError(error.reason, error.message, patience, { cause: error })
        : error;
    if (blocked instanceof BlockedError) {
      const { status, conditions } = failedAt(name, blocked);
      await ctx.status(Application, app, status, conditions);
    }
    throw blocked;
  }
}

/** Applies all objects. What is refused keeps none of the others from being applied. */
async function applyAll(
  objects: readonly ChildObject[],
  before: readonly Resource[],
  ctx: Context,
): Promise<readonly Stored[]> {
  const children: Stored[] = [];
  const refused: BlockedError[] = [];
  for (const object of objects) {
    try {
      const kind = kindOf(object, childKinds) as Kind;
      children.push(await ctx.apply(kind, childOf(object), { uid: knownUid(before, object) }));
    } catch (error) {
      refused.push(refusalOf(error, object));
    }
  }
  const [first, ...more] = refused;
  if (first === undefined) return children;
  const message = [first, ...more].map((error) => error.message).join("; ");
  throw new BlockedError(first.reason, message, first.retryAfterMillis, { cause: first });
}

function childOf({
  apiVersion: _,
  kind: __,
  metadata: { namespace: ___, ...metadata },
  ...content
}: ChildObject) {
  return { ...content, metadata } as unknown as NewChild<KubeObject>;
}

/** Why the API server does not take an object, as its owner reads it. Throws what is no refusal. */
function refusalOf(error: unknown, { kind, metadata: { name } }: ChildObject): BlockedError {
  if (error instanceof BlockedError) return error;
  if (!(error instanceof ApiError)) throw error;
  const reason = isInvalid(error)
    ? "Invalid"
    : isForbidden(error)
      ? "Forbidden"
      : isNotFound(error)
        ? "KindNotInstalled"
        : undefined;
  if (reason === undefined) throw error;
  return new BlockedError(
    reason,
    `expected a ${kind} ${name} that the API server takes, found: ${error.message}`,
    patience,
    { cause: error },
  );
}

/** Takes away what is not wanted any more, if it is what was made, and still the Application's. */
async function prune(app: App, resource: Resource, ctx: Context): Promise<void> {
  const kind = kindOf(resource, childKinds);
  const found = kind && (await ctx.live.get(kind, resource.name));
  if (found === undefined || !isSame(resource, found)) return;
  if (controllerOf(found)?.uid !== app.metadata.uid) return;
  await ctx.delete(kind as Kind, found);
  ctx.event(
    "Normal",
    "Pruned",
    `the ${resource.kind} ${resource.name} is not wanted any more and was deleted`,
  );
}

/**
 * Application: the objects that its chart makes are applied, kept as they are wanted, and taken away when they are not
 * wanted any more. Whatever goes wrong with the chart, what runs goes on.
 */
import type { Kind } from "../../bus/kube/kind.ts";
import { controllerOf, type KubeObject, type Stored } from "../../bus/kube/object.ts";
import { Deployment } from "../../bus/kube/workloads.ts";
import { BlockedError } from "../../bus/worker/errors.ts";
import { type Context, defineFunction, type NewChild } from "../../bus/worker/function.ts";
import {
  announced,
  identified,
  kindOf,
  knownUid,
  obsolete,
  type Resource,
  resourceOf,
} from "./application/inventory.ts";
import { refusalOf, refusalOfAll } from "./application/refusal.ts";
import { objectsOf } from "./application/render.ts";
import { type Found, newsOf, saidOf } from "./application/status.ts";
import { ChartError } from "./charts/chart.ts";
import { childKinds } from "./charts/kinds.ts";
import type { ChildObject } from "./charts/validate.ts";
import { Application } from "./kinds.ts";
import { patience } from "./problems.ts";
import { type Site, siteIndex, siteOf, watchSite } from "./site/site.ts";

type App = Stored<Application>;

export default defineFunction({
  name: "modoki-application",
  fieldManager: "modoki-application",
  for: Application,
  owns: childKinds,
  // Of a chart that does not end each rendering takes its deadline, one after the other.
  timeoutMillis: 150_000,
  // The site's chart runs in a process of its own beside the worker.
  memoryMebibytes: 1024,
  indexes: siteIndex,
  watches: [watchSite],
  sweepMillis: 1_800_000,
  async reconcile(app, ctx) {
    const { site, objects } = await rendered(app, ctx);
    const before = app.status?.resources ?? [];
    const resources = announced(before, objects);
    const listed = await ctx.status(Application, app, { resources: [...resources] });
    const { children, refusal } = await applyAll(objects, before, ctx);
    const { scheme } = site.config.site;
    if (refusal) {
      const { reason, message } = refusal;
      const problem = { step: "Applied", reason, message } as const;
      await say(listed, { resources: identified(resources, children), problem, scheme }, ctx);
      throw refusal;
    }
    for (const resource of obsolete(resources, objects)) await prune(listed, resource, ctx);
    await say(listed, { resources: children.map(resourceOf), children, scheme }, ctx);
    return undefined;
  },
});

/** What the chart makes. When somebody has to change something before that, the object says so. */
async function rendered(
  app: App,
  ctx: Context,
): Promise<{ readonly site: Site; readonly objects: readonly ChildObject[] }> {
  try {
    const site = await siteOf(ctx);
    return { site, objects: await objectsOf(app, site, ctx.signal) };
  } catch (error) {
    const blocked =
      error instanceof ChartError
        ? new BlockedError(error.reason, error.message, patience, { cause: error })
        : error;
    if (blocked instanceof BlockedError) {
      const { reason, message } = blocked;
      await say(app, { problem: { step: "Rendered", reason, message } }, ctx);
    }
    throw blocked;
  }
}

/** Writes what is known of the Application. Where not all was applied, it looks at what is there. */
async function say(
  app: App,
  {
    resources = app.status?.resources ?? [],
    children,
    ...found
  }: Pick<Found, "problem" | "scheme"> & {
    readonly resources?: readonly Resource[];
    readonly children?: readonly Stored[];
  },
  ctx: Context,
): Promise<void> {
  const deployments = children
    ? children.filter(({ kind }) => kind === Deployment.kind)
    : await listedDeployments(resources, ctx);
  const said = saidOf(app, {
    ...found,
    deployments: deployments as Stored<Deployment>[],
    children: children ?? [],
    now: new Date(ctx.now()),
  });
  const { status, conditions } = said;
  await ctx.status(Application, app, { ...status, resources: [...resources] }, conditions);
  for (const { type, reason, note } of newsOf(app, said)) ctx.event(type, reason, note);
}

async function listedDeployments(resources: readonly Resource[], ctx: Context): Promise<Stored[]> {
  const there = await ctx.read.children(Deployment);
  return resources.flatMap(({ kind, name }) =>
    kind === Deployment.kind ? there.filter(({ metadata }) => metadata.name === name) : [],
  );
}

/** Applies all objects. What is refused keeps none of the others from being applied. */
async function applyAll(
  objects: readonly ChildObject[],
  before: readonly Resource[],
  ctx: Context,
): Promise<{ readonly children: readonly Stored[]; readonly refusal: BlockedError | undefined }> {
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
  return { children, refusal: refusalOfAll(refused) };
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
 * Takes away what is not wanted any more, if it is still the Application's. Its uid may be another one than that of the list:
 * whoever made it anew may have died before it was written there.
 */
async function prune(app: App, resource: Resource, ctx: Context): Promise<void> {
  const kind = kindOf(resource, childKinds);
  const found = kind && (await ctx.live.get(kind, resource.name));
  if (found === undefined || controllerOf(found)?.uid !== app.metadata.uid) return;
  await ctx.delete(kind as Kind, found);
  ctx.event(
    "Normal",
    "Pruned",
    `the ${resource.kind} ${resource.name} is not wanted any more and was deleted`,
  );
}

/**
 * Application: renders the chart, applies its objects, and prunes those that it no longer renders. When the chart fails, the
 * objects of the last successful rendering keep running.
 */
import { BlockedError, type Context, Deployment, defineFunction, type Stored } from "denrei";
import { applyAll, pruneAll } from "./application/apply.ts";
import { deleteHostRoutes, removeRefusedHosts } from "./application/hosting.ts";
import {
  inventoryFields,
  inventoryOf,
  obsolete,
  type Resource,
  resourceOf,
  withPlanned,
  withUids,
} from "./application/inventory.ts";
import { withAdvice } from "./application/kindadvice.ts";
import { objectsOf } from "./application/render.ts";
import { eventsFor, type ReconcileResult, statusOf } from "./application/status.ts";
import { ChartError, UnlistedKindError } from "./charts/chart.ts";
import { childKinds } from "./charts/kinds.ts";
import type { ChildObject } from "./charts/validate.ts";
import { claimHosts, refusalOfHosts, releaseHosts } from "./hosts/claim.ts";
import { desiredHosts, hostIndex, hostPermissions, watchHosts } from "./hosts/desired.ts";
import { withoutHosts } from "./hosts/routes.ts";
import { Application } from "./kinds.ts";
import { retryMillis } from "./retry.ts";
import { siteKinds } from "./site/kinds.ts";
import { type Site, siteIndex, siteOf, watchSite } from "./site/site.ts";

type App = Stored<Application>;

export default defineFunction({
  name: "modoki-application",
  fieldManager: "modoki-application",
  for: Application,
  owns: childKinds,
  ownsListed: siteKinds,
  // Renderings run one at a time, and a chart that hangs uses its full deadline.
  timeoutMillis: 150_000,
  // The site's chart runs in a child process of the worker.
  memoryMebibytes: 1024,
  indexes: { ...siteIndex, ...hostIndex },
  watches: [watchSite, ...watchHosts],
  permissions: hostPermissions,
  sweepMillis: 1_800_000,
  async reconcile(app, ctx) {
    const site = await reportingBlocked(app, ctx, () => siteOf(ctx));
    const { objects, failure } = await render(app, site, ctx);
    const before = inventoryOf(app.status);
    const resources = withPlanned(before, objects);
    const hosts = desiredHosts(app, objects, failure === undefined ? "current" : "current and previous");
    const listed = await ctx.status(Application, app, {
      ...inventoryFields(resources),
      ...hosts.statusFields,
    });
    const { granted, refusals } = await claimHosts(listed, hosts.desired, site.config.hosts, ctx);
    const refused = new Set(refusals.map(({ host }) => host));
    if (failure) {
      await removeRefusedHosts(listed, refused, ctx);
      await writeStatus(
        listed,
        { problem: { step: "Rendered", ...reasonAndMessage(failure) }, granted },
        ctx,
      );
      throw failure;
    }
    const allowed = objects.flatMap((object) => withoutHosts(object, refused) ?? []);
    const { children, refusal } = await applyAll(allowed, before, site.config.kinds, ctx);
    const { scheme } = site.config.site;
    if (refusal) {
      await removeRefusedHosts(listed, refused, ctx);
      const problem = { step: "Applied", ...reasonAndMessage(refusal) } as const;
      await writeStatus(listed, { resources: withUids(resources, children), problem, scheme, granted }, ctx);
      throw refusal;
    }
    const pruned = await pruneAll(listed, obsolete(resources, allowed), site.config.kinds, ctx);
    await releaseHosts(
      listed,
      hosts.before.filter((host) => !granted.includes(host)),
      ctx,
    );
    const withheld = refusalOfHosts(refusals) ?? pruned.refusal;
    const found = {
      resources: [...children.map(resourceOf), ...pruned.left],
      children,
      scheme,
      granted,
      withheld: withheld && reasonAndMessage(withheld),
    };
    await writeStatus(listed, { ...found, hosts: hosts.desired }, ctx);
    if (withheld) throw withheld;
  },
  /** Deletes routes before the claims: the garbage collector may be slower than the next owner of a host. */
  async finalize(app, ctx) {
    await deleteHostRoutes(app, ctx);
    await releaseHosts(app, desiredHosts(app, [], "current and previous").desired, ctx);
  },
});

const reasonAndMessage = ({ reason, message }: BlockedError) => ({ reason, message });

/** Runs `read`. If it throws a `BlockedError`, writes that into the status, because the error ends the reconcile. */
async function reportingBlocked<T>(app: App, ctx: Context, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof BlockedError) {
      await writeStatus(app, { problem: { step: "Rendered", ...reasonAndMessage(error) } }, ctx);
    }
    throw error;
  }
}

/** Renders the Application. If the chart fails, returns the error to throw. */
async function render(
  app: App,
  site: Site,
  ctx: Context,
): Promise<{ readonly objects: readonly ChildObject[]; readonly failure?: BlockedError }> {
  try {
    return { objects: await objectsOf(app, site, ctx.signal) };
  } catch (error) {
    if (!(error instanceof ChartError)) throw error;
    const explained =
      error instanceof UnlistedKindError ? await withAdvice(error, inventoryOf(app.status), ctx.live) : error;
    const failure = new BlockedError(explained.reason, explained.message, retryMillis, { cause: error });
    return { objects: [], failure };
  }
}

/** Writes the status. Without `children`, because not all were applied, it reads the Deployments that exist. */
async function writeStatus(
  app: App,
  {
    resources = inventoryOf(app.status),
    children,
    hosts,
    ...found
  }: Pick<ReconcileResult, "problem" | "scheme" | "granted" | "withheld"> & {
    readonly resources?: readonly Resource[];
    readonly children?: readonly Stored[];
    readonly hosts?: readonly string[];
  },
  ctx: Context,
): Promise<void> {
  const deployments = children
    ? children.filter(({ kind }) => kind === Deployment.kind)
    : await listedDeployments(resources, ctx);
  const update = statusOf(app, {
    ...found,
    deployments: deployments as Stored<Deployment>[],
    children: children ?? [],
    now: new Date(ctx.now()),
  });
  const { status, conditions } = update;
  const lists = { ...inventoryFields(resources), ...(hosts && { hosts: [...hosts] }) };
  await ctx.status(Application, app, { ...status, ...lists }, conditions);
  for (const { type, reason, note } of eventsFor(app, update)) ctx.event(type, reason, note);
}

async function listedDeployments(resources: readonly Resource[], ctx: Context): Promise<Stored[]> {
  const there = await ctx.read.children(Deployment);
  return resources.flatMap(({ kind, name }) =>
    kind === Deployment.kind ? there.filter(({ metadata }) => metadata.name === name) : [],
  );
}

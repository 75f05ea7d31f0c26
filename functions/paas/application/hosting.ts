/** Objects that go on with hosts which an Application may not have, or has no longer. */
import { refusalReasonOf } from "../../../bus/kube/blocker.ts";
import type { Kind } from "../../../bus/kube/kind.ts";
import { controllerOf, type Stored } from "../../../bus/kube/object.ts";
import type { Context } from "../../../bus/worker/function.ts";
import { childKinds } from "../charts/kinds.ts";
import { refusedKind } from "../charts/refusedkinds.ts";
import { annotationsToDrop, hasOnlyNotedHosts, hostsOf, type Routed } from "../hosts/routes.ts";
import type { Application } from "../kinds/application.ts";
import { kindOf, type Resource } from "./inventory.ts";

type App = Stored<Application>;

/** An object of an Application, and its kind. */
export interface OwnObject {
  readonly kind: Kind;
  readonly object: Stored;
}

/**
 * An object of the list, if the Application still controls it. Its uid may differ from that of the list: a worker may have
 * died after it created the object again. Throws when the API server refuses to show it.
 */
export async function ownObject(
  app: App,
  resource: Resource,
  ctx: Pick<Context, "live">,
): Promise<OwnObject | undefined> {
  const kind = kindOf(resource, childKinds) ?? (await listedKind(resource, ctx));
  const found = kind && (await ctx.live.get(kind, resource.name));
  return found && controllerOf(found)?.uid === app.metadata.uid ? { kind, object: found } : undefined;
}

/** A kind that the site lists, or did when the object was made: the API server knows it in either case. */
async function listedKind(
  { apiVersion, kind }: Resource,
  { live }: Pick<Context, "live">,
): Promise<Kind | undefined> {
  const found = await live.kind(apiVersion, kind);
  return found && found.scope === "Namespaced" && refusedKind(found) === undefined ? found : undefined;
}

/**
 * Same as {@link ownObject}, but skips objects of listed kinds that the platform has no rights to read: the other objects matter
 * all the same.
 */
async function shownObject(app: App, resource: Resource, ctx: Context): Promise<OwnObject | undefined> {
  try {
    return await ownObject(app, resource, ctx);
  } catch (error) {
    if (kindOf(resource, childKinds) === undefined && refusalReasonOf(error) !== undefined) return undefined;
    throw error;
  }
}

const routed = ({ kind, object }: OwnObject): Routed => ({ ...object, kind: kind.kind });

/**
 * Takes away routes that go on with hosts which are not the Application's, where nothing takes their place. What has such a host in an
 * annotation alone, such as a Service, stays without the annotation.
 */
export async function withdraw(app: App, refused: ReadonlySet<string>, ctx: Context): Promise<void> {
  if (refused.size === 0) return;
  for (const resource of app.status?.resources ?? []) {
    const own = await shownObject(app, resource, ctx);
    if (own === undefined || !hostsOf(routed(own)).some((host) => refused.has(host))) continue;
    const { kind, object } = own;
    if (hasOnlyNotedHosts(routed(own)))
      await ctx.patch(kind, object, { metadata: { annotations: annotationsToDrop(routed(own), refused) } });
    else await ctx.delete(kind, object);
  }
}

/** Deletes the objects of an Application that have hosts. */
export async function deleteHosting(app: App, ctx: Context): Promise<void> {
  for (const resource of app.status?.resources ?? []) {
    const own = await shownObject(app, resource, ctx);
    if (own && hostsOf(routed(own)).length > 0) await ctx.delete(own.kind, own.object);
  }
}

/** Removes routes for hosts that an Application may not have, or no longer has. */
import { type Context, controllerOf, type Kind, refusalReasonOf, type Stored } from "denrei";
import { childKinds } from "../charts/kinds.ts";
import { refusedKind } from "../charts/refusedkinds.ts";
import { annotationsToDrop, hasHostsOnlyInAnnotations, hostsOf, type Routed } from "../hosts/routes.ts";
import type { Application } from "../kinds/application.ts";
import { inventoryOf, kindOf, type Resource } from "./inventory.ts";

type App = Stored<Application>;

/** An object of an Application, with its kind. */
export interface OwnObject {
  readonly kind: Kind;
  readonly object: Stored;
}

/**
 * Reads an object of the inventory, if the Application still controls it. Its uid may differ from the inventory's: a worker may
 * have died after it created the object again. Throws when the API server refuses the read.
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

/** A kind that the site lists now, or listed when the object was created: the API server knows it in both cases. */
async function listedKind(
  { apiVersion, kind }: Resource,
  { live }: Pick<Context, "live">,
): Promise<Kind | undefined> {
  const found = await live.kind(apiVersion, kind);
  return found && found.scope === "Namespaced" && refusedKind(found) === undefined ? found : undefined;
}

/** Like {@link ownObject}, but skips objects of listed kinds that the platform may not read, so that the others are still handled. */
async function readableObject(app: App, resource: Resource, ctx: Context): Promise<OwnObject | undefined> {
  try {
    return await ownObject(app, resource, ctx);
  } catch (error) {
    if (kindOf(resource, childKinds) === undefined && refusalReasonOf(error) !== undefined) return undefined;
    throw error;
  }
}

const routed = ({ kind, object }: OwnObject): Routed => ({ ...object, kind: kind.kind });

/**
 * Removes routes for hosts that the Application may not have. An object with such hosts only in annotations, such as a Service,
 * stays without the annotations.
 */
export async function removeRefusedHosts(
  app: App,
  refused: ReadonlySet<string>,
  ctx: Context,
): Promise<void> {
  if (refused.size === 0) return;
  for (const resource of inventoryOf(app.status)) {
    const own = await readableObject(app, resource, ctx);
    if (own === undefined || !hostsOf(routed(own)).some((host) => refused.has(host))) continue;
    const { kind, object } = own;
    if (hasHostsOnlyInAnnotations(routed(own)))
      await ctx.patch(kind, object, { metadata: { annotations: annotationsToDrop(routed(own), refused) } });
    else await ctx.delete(kind, object);
  }
}

/** Deletes the objects of an Application that route hosts. */
export async function deleteHostRoutes(app: App, ctx: Context): Promise<void> {
  for (const resource of inventoryOf(app.status)) {
    const own = await readableObject(app, resource, ctx);
    if (own && hostsOf(routed(own)).length > 0) await ctx.delete(own.kind, own.object);
  }
}

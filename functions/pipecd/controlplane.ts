/**
 * ControlPlane: gateway, server, cache, and ops of PipeCD, with their configuration. Server and ops start when datastore and
 * filestore are ready, and run until the last object that needs them is deleted.
 */
import { ConfigMap, type Context, Deployment, defineFunction, Secret, Service, type Stored } from "denrei";
import { blueprintOf } from "./controlplane/blueprint.ts";
import { checkCertificate } from "./controlplane/certificate.ts";
import type { Component } from "./controlplane/components.ts";
import { ensureEncryptionKey } from "./controlplane/encryptionkey.ts";
import { deploymentOf, type Part, serviceOf } from "./controlplane/partobjects.ts";
import { cache, gateway, givenMounts, ops, server } from "./controlplane/parts.ts";
import { finalizeControlPlane } from "./controlplane/planedeletion.ts";
import { isReady, oldest } from "./controlplane/planelookup.ts";
import { configMaps, gatewayService } from "./controlplane/planeobjects.ts";
import { statusOf } from "./controlplane/planestatus.ts";
import { storesOf } from "./controlplane/storestates.ts";
import { sweepMillis } from "./intervals.ts";
import { Application, ControlPlane, Environment, Minio, Mongo, Mysql, Piped } from "./kinds.ts";
import { applyChild } from "./kubernetes/children.ts";
import { contentDigest } from "./kubernetes/secrets.ts";
import { mountedDigest, mountedIndex } from "./kubernetes/volumes.ts";
import {
  deletedNeighbor,
  namedConfigMap,
  namedSecret,
  namespaceIndex,
  neighbor,
  ownNamespace,
} from "./kubernetes/watches.ts";
import { group, objectNames } from "./names.ts";
import { bootstrapKeys, disableFormerKeys } from "./server/apikeys.ts";
import { outbound } from "./server/serveraddress.ts";

type Plane = Stored<ControlPlane>;

/** Interval for polling a user's own datastore or filestore: no event reports that its Service was created. Milliseconds. */
const storeMillis = 30_000;

export default defineFunction({
  name: "pipecd-controlplane",
  for: ControlPlane,
  outbound,
  owns: [Deployment, Service, ConfigMap, Secret],
  // The Secret with the encryption key is not a child when the user created it.
  indexes: { ...namespaceIndex, ...mountedIndex<ControlPlane>(givenMounts, () => [objectNames.secret]) },
  watches: [
    neighbor(Minio),
    neighbor(Mongo),
    neighbor(Mysql),
    neighbor(ControlPlane),
    deletedNeighbor(Environment),
    deletedNeighbor(Piped),
    deletedNeighbor(Application),
    namedSecret,
    namedConfigMap,
    ownNamespace,
  ],
  permissions: [
    {
      apiGroups: [group],
      resources: [Environment.plural, Piped.plural, Application.plural, ControlPlane.plural],
      verbs: ["list"],
    },
  ],
  sweepMillis,
  async reconcile(plane, ctx) {
    // Read from the API server, so that two ControlPlanes created at the same time see each other.
    const other = oldest(await ctx.live.list(ControlPlane));
    if (other && other.metadata.uid !== plane.metadata.uid)
      return reportAnotherControlPlane(plane, other, ctx);
    const secret = await ensureEncryptionKey(ctx);
    await checkCertificate(plane, ctx);
    const stores = await storesOf(plane, ctx);
    // Keep the last value while the datastore is unavailable: a new value restarts ops.
    const { datastoreSince = plane.status?.datastoreSince } = stores;
    const blueprint = blueprintOf(plane, {
      secrets: contentDigest(secret.data, await mountedDigest(givenMounts(plane), ctx)),
      datastoreSince,
    });
    const formerKeys = await disableFormerKeys(plane, ctx);
    for (const child of configMaps(blueprint)) await applyChild(child, ctx);
    await applyChild(gatewayService(plane), ctx);
    const canStart = stores.conditions.every(({ status }) => status === "True");
    const deployments: Partial<Record<Component, Stored<Deployment>>> = {};
    for (const part of [cache, ops, server, gateway].map((make) => make(blueprint))) {
      await applyChild(serviceOf(plane, part), ctx);
      const deployment = await applyDeployment(plane, part, canStart, ctx);
      if (deployment) deployments[part.component] = deployment;
    }
    const { status, conditions } = statusOf(plane, {
      profile: blueprint.profile,
      deployments,
      stores: stores.conditions,
    });
    const latest = await ctx.status(
      ControlPlane,
      plane,
      { ...status, ...(datastoreSince !== undefined && { datastoreSince }) },
      conditions,
    );
    if (!canStart) return { requeueAfter: storeMillis };
    if (!isReady(latest)) return undefined;
    const keys = await bootstrapKeys(latest, formerKeys, ctx);
    await ctx.status(ControlPlane, latest, keys.status, keys.conditions);
    return keys.requeueMillis === undefined ? undefined : { requeueAfter: keys.requeueMillis };
  },
  finalize: finalizeControlPlane,
});

/**
 * Server and ops exit without their stores, so they are created only when the stores are ready. Existing ones are always
 * reconciled.
 */
async function applyDeployment(
  plane: Plane,
  part: Part,
  canStart: boolean,
  ctx: Context,
): Promise<Stored<Deployment> | undefined> {
  const child = deploymentOf(plane, part);
  const needsStores = part.component === "server" || part.component === "ops";
  if (needsStores && !canStart && (await ctx.read.get(Deployment, child.name)) === undefined)
    return undefined;
  return (await applyChild(child, ctx)) as Stored<Deployment>;
}

/** An older ControlPlane owns the object names in this namespace. Its deletion triggers a reconcile of this one. */
async function reportAnotherControlPlane(
  plane: Plane,
  { metadata: { name } }: Plane,
  ctx: Context,
): Promise<undefined> {
  const message = `the namespace already has the ControlPlane ${name}, and there can be only one because object names are fixed. Delete one of the two, or create this one in another namespace.`;
  await ctx.status(ControlPlane, plane, {}, [
    { type: "Ready", status: "False", reason: "AnotherControlPlane", message },
  ]);
  return undefined;
}

/** Piped: an agent of PipeCD. Registers it with the control plane, stores its key, and runs it. */
import {
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  Deployment,
  defineFunction,
  Secret,
  Service,
  ServiceAccount,
  type Stored,
} from "denrei";
import { syncMillis } from "./intervals.ts";
import { Application, ControlPlane, Environment, Piped } from "./kinds.ts";
import { applyChild } from "./kubernetes/children.ts";
import { contentDigest } from "./kubernetes/secrets.ts";
import { type Mount, mountedDigest, mountedIndex } from "./kubernetes/volumes.ts";
import {
  deletedNeighbor,
  namedConfigMap,
  namedSecret,
  namespaceIndex,
  neighbor,
  ownNamespace,
} from "./kubernetes/watches.ts";
import { group, objectNames } from "./names.ts";
import { configOf } from "./piped/desiredpiped.ts";
import { retire } from "./piped/formerpipeds.ts";
import { finalizePiped } from "./piped/pipeddeletion.ts";
import { objectsOf, type PipedBlueprint } from "./piped/pipedobjects.ts";
import { describeRegistration } from "./piped/pipedregistration.ts";
import { readyOf, writeStatus } from "./piped/pipedstatus.ts";
import { ensureRegistered } from "./piped/pipedsync.ts";
import { formerRegistered } from "./server/announcement.ts";
import { reconcileOrWait } from "./server/dependent.ts";
import { deregisterPermissions } from "./server/deregistration.ts";
import { outbound } from "./server/serveraddress.ts";

/** Reports that PipeCD still has the former registration. */
const formerConditions = (piped: Stored<Piped>) => {
  const { name, projectID } = piped.status?.registered ?? piped.spec;
  const isFormer = name !== piped.spec.name || projectID !== piped.spec.projectID;
  return isFormer ? formerRegistered(piped, describeRegistration(piped)) : [];
};

const mountsOf = ({ spec }: Pick<Piped, "spec">): readonly Mount[] => spec.volumeMounts ?? [];

export default defineFunction({
  name: "pipecd-piped",
  for: Piped,
  outbound,
  owns: [Deployment, Service, ConfigMap, Secret, ServiceAccount, ClusterRole, ClusterRoleBinding],
  indexes: {
    ...namespaceIndex,
    // The Secret with the piped's name may belong to another owner. Its deletion must trigger a reconcile.
    ...mountedIndex<Piped>(mountsOf, ({ metadata, spec }) => [
      metadata.name,
      objectNames.secret,
      ...(spec.apiKeySecretRef ? [spec.apiKeySecretRef.name] : []),
    ]),
  },
  watches: [
    neighbor(ControlPlane),
    neighbor(Environment),
    deletedNeighbor(Application),
    namedSecret,
    namedConfigMap,
    ownNamespace,
  ],
  permissions: [
    {
      apiGroups: [group],
      resources: [Application.plural, ControlPlane.plural, Piped.plural],
      verbs: ["list"],
    },
    ...deregisterPermissions,
    // Agents get all permissions, and RBAC refuses to grant more than the caller has.
    { apiGroups: [ClusterRole.group], resources: [ClusterRole.plural], verbs: ["bind", "escalate"] },
  ],
  sweepMillis: syncMillis,
  reconcile: (piped, ctx) =>
    reconcileOrWait(
      Piped,
      piped,
      ctx,
      async () => {
        const { profile, ...found } = await ensureRegistered(piped, ctx);
        const { registered } = found;
        const blueprint: PipedBlueprint = {
          piped,
          profile,
          pipedID: registered.id,
          config: configOf(piped, profile, registered.id),
          secrets: contentDigest(registered.secret.data, await mountedDigest(mountsOf(piped), ctx)),
        };
        let deployment: Stored<Deployment> | undefined;
        for (const child of objectsOf(blueprint)) {
          const applied = await applyChild(child, ctx);
          if (child.kind === Deployment) deployment = applied as Stored<Deployment>;
        }
        const { piped: written, result } = await writeStatus({ ...found, deployment }, ctx);
        const { object, requeueAfter = result.requeueAfter } = await retire(written, found.plane, ctx);
        await ctx.status(Piped, object, {}, [readyOf(deployment)]);
        return requeueAfter === undefined ? undefined : { requeueAfter };
      },
      formerConditions,
    ),
  finalize: finalizePiped,
});

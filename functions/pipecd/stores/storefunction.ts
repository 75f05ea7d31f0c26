/** The function shared by Minio, Mongo, and Mysql: a StatefulSet of one pod, a Service, and a finalizer that waits for users. */

import {
  type Condition,
  type Context,
  defineFunction,
  type Kind,
  type KubeObject,
  type ReconcileFunction,
  type SecretObject,
  Service,
  StatefulSet,
  type StatusFields,
  type Stored,
} from "denrei";
import { sweepMillis } from "../intervals.ts";
import { ControlPlane } from "../kinds.ts";
import { applyChild } from "../kubernetes/children.ts";
import { isNamespaceTerminating, waitForUsers } from "../kubernetes/finalizers.ts";
import { contentDigest, secretWith } from "../kubernetes/secrets.ts";
import { deletedNeighbor, namedSecret, namespaceIndex, ownNamespace, within } from "../kubernetes/watches.ts";
import { group } from "../names.ts";
import { type Program, type StorageSpec, serviceOf, statefulSetOf } from "./statefulset.ts";
import { isUsed, type StoreKind } from "./usedstores.ts";

/** Fields that all stores have. */
export type StoreObject = KubeObject<
  {
    readonly storage?: StorageSpec | undefined;
    readonly secret?: { readonly secretName: string } | undefined;
  },
  {
    availableReplicas?: number | undefined;
    observedGeneration?: number | undefined;
    conditions?: Condition[] | undefined;
  }
>;

/** The parts that differ between kinds of stores. */
export interface StoreDefinition<T extends StoreObject> {
  readonly name: string;
  readonly kind: Kind<T>;
  readonly component: StoreKind;
  readonly secretKeys: readonly string[];
  /** The container of its pod. */
  program(store: Stored<T>): Program;
}

/** Creates the function of one kind of store. */
export const storeFunction = <T extends StoreObject>({
  name,
  kind,
  component,
  secretKeys,
  program,
}: StoreDefinition<T>): ReconcileFunction =>
  defineFunction<T>({
    name,
    for: kind,
    owns: [StatefulSet, Service],
    indexes: {
      ...namespaceIndex,
      secret: (store) => (store.spec.secret ? [within(store, store.spec.secret.secretName)] : []),
    },
    watches: [namedSecret, deletedNeighbor(ControlPlane), ownNamespace],
    permissions: [{ apiGroups: [group], resources: [ControlPlane.plural], verbs: ["list"] }],
    sweepMillis,
    async reconcile(store, ctx) {
      const secret = await secretOf(store, secretKeys, ctx);
      const options = {
        name: store.metadata.name,
        component,
        program: program(store),
        storage: store.spec.storage,
        // New credentials take effect with a new pod.
        digest: contentDigest(secret?.data),
      };
      await applyChild(serviceOf(options), ctx);
      const set = (await applyChild(statefulSetOf(options), ctx)) as Stored<StatefulSet>;
      await report(kind, store, set, ctx);
    },
    async finalize(store, ctx) {
      if (await isNamespaceTerminating(ctx)) return undefined;
      const users = (await ctx.live.list(ControlPlane)).filter((plane) =>
        isUsed(plane, { kind: component, name: store.metadata.name }),
      );
      return waitForUsers(kind, store, users, ctx);
    },
  });

async function secretOf(
  { spec: { secret } }: StoreObject,
  keys: readonly string[],
  ctx: Context,
): Promise<SecretObject | undefined> {
  return secret === undefined ? undefined : secretWith(secret.secretName, keys, ctx);
}

async function report<T extends StoreObject>(
  kind: Kind<T>,
  store: Stored<T>,
  { metadata, status = {} }: Stored<StatefulSet>,
  ctx: Context,
): Promise<void> {
  const { availableReplicas = 0, observedGeneration = 0, updatedReplicas = 0 } = status;
  const isReady =
    observedGeneration >= (metadata.generation ?? 0) && availableReplicas > 0 && updatedReplicas > 0;
  await ctx.status(kind, store, { availableReplicas } as StatusFields<T>, [
    isReady
      ? { type: "Ready", status: "True", reason: "Available", message: "the pod is available" }
      : {
          type: "Ready",
          status: "False",
          reason: "Progressing",
          message: `the pod of the StatefulSet ${metadata.name} is not available yet`,
        },
  ]);
}

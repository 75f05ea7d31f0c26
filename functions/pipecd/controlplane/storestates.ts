/** Whether datastore and filestore of a control plane are ready. */
import {
  type Condition,
  type ConditionUpdate,
  type Context,
  type Kind,
  type KubeObject,
  Service,
  type Stored,
} from "denrei";
import { type ControlPlane, Minio, Mongo, Mysql } from "../kinds.ts";
import { datastoreOf, filestoreOf, type StoreKind, type StoreName } from "../stores/usedstores.ts";

/** The kinds of stores. */
export const storeKinds: Readonly<Record<StoreKind, Kind>> = {
  minio: Minio as unknown as Kind,
  mongo: Mongo as unknown as Kind,
  mysql: Mysql as unknown as Kind,
};

type Store = KubeObject<unknown, { conditions?: Condition[] }>;

/** The state of both stores. */
export interface Stores {
  readonly conditions: readonly ConditionUpdate[];
  /** When the datastore became ready, if it is a store of the namespace. RFC 3339. */
  readonly datastoreSince: string | undefined;
}

export async function storesOf(plane: Stored<ControlPlane>, ctx: Context): Promise<Stores> {
  const datastore = datastoreOf(plane);
  const ready = datastore && readyOf(await find(datastore, ctx));
  return {
    conditions: [
      await conditionOf("DatastoreReady", datastore, ctx),
      await conditionOf("FilestoreReady", filestoreOf(plane), ctx),
    ],
    datastoreSince: ready?.status === "True" ? ready.lastTransitionTime : undefined,
  };
}

const find = async ({ kind, name }: StoreName, { read }: Context): Promise<Stored<Store> | undefined> =>
  (await read.get(storeKinds[kind], name)) as Stored<Store> | undefined;

const readyOf = (store: Stored<Store> | undefined): Condition | undefined =>
  store?.status?.conditions?.find(({ type }) => type === "Ready");

async function conditionOf(
  type: string,
  store: StoreName | undefined,
  ctx: Context,
): Promise<ConditionUpdate> {
  const condition = (status: "True" | "False", reason: string, message: string) => ({
    type,
    status,
    reason,
    message,
  });
  if (store === undefined) return condition("True", "External", "not a store of this namespace");
  const kind = storeKinds[store.kind];
  const found = await find(store, ctx);
  if (found !== undefined) {
    const ready = readyOf(found);
    if (ready?.status === "True")
      return condition("True", "Ready", `the ${kind.kind} ${store.name} is ready`);
    return condition(
      "False",
      "NotReady",
      `the ${kind.kind} ${store.name} is not ready: ${ready?.message ?? "it is new"}`,
    );
  }
  const service = `${store.name}-${store.kind}`;
  // The user's own database may have a Service with this name.
  if ((await ctx.live.get(Service, service)) !== undefined)
    return condition("True", "External", `the Service ${service} exists`);
  return condition(
    "False",
    "NotFound",
    `expected the ${kind.kind} ${store.name}, or a Service ${service}, found neither`,
  );
}

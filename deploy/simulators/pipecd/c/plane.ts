/** State of a control plane of PipeCD v0.57.0: datastore, Redis, and in-process caches. */
import {
  type APIKey,
  APIKeySchema,
  type Application,
  ApplicationSchema,
  type Command,
  CommandSchema,
  type Event,
  EventSchema,
  type Piped,
  PipedSchema,
} from "@denrei/functions/pipecd/api/generated/c/model_pb";
import type { Deployment } from "../generated/c/pipedservice_pb.ts";
import { binaryOrder, uuidOf } from "../ids.ts";
import { openPipedMemory, type PipedMemory } from "../pipedtokens.ts";
import type { Plane } from "../plane.ts";
import { openTable, StoreError, type Table, type TableRules } from "../table.ts";
import { hour, minute, openTtlCache, type TtlCache } from "../ttlcache.ts";
import { problemOf } from "../validation.ts";
import { modelRules } from "./rules.ts";

/** The MySQL database, with one table per kind. */
export interface Store {
  readonly pipeds: Table<Piped>;
  readonly applications: Table<Application>;
  readonly apiKeys: Table<APIKey>;
  readonly commands: Table<Command>;
  readonly events: Table<Event>;
  /** Projects outside the configuration file. */
  readonly projects: Set<string>;
}

/** Redis, which outlives the server. */
export interface Redis {
  /** Last use of each API key by its id, in seconds since the epoch. */
  readonly lastUsed: Map<string, bigint>;
  /** Last report of each piped by its id, in seconds since the epoch. */
  readonly stats: Map<string, bigint>;
}

/** Caches of what the process has read from the datastore. */
export interface Memory {
  readonly apiKeys: TtlCache<APIKey>;
  /** Datastore projects whose roles were looked up. */
  readonly roles: TtlCache<true>;
  readonly pipeds: PipedMemory;
  /** Project of a piped or an application, by the id in the request. */
  readonly projectOfPiped: TtlCache<string>;
  readonly projectOfApplication: TtlCache<string>;
}

/** The complete state. */
export interface PlaneC extends Plane {
  readonly store: Store;
  readonly redis: Redis;
  /** Deployments that pipeds have created, in creation order. Nothing runs them. */
  readonly deployments: Deployment[];
  readonly memory: Memory;
}

/** Maximum length of indexed names, in characters. */
const nameLimits = { piped: 100, application: 50, apiKey: 100, event: 50 };

/** Creates an empty datastore. */
export function openStore(common: Pick<TableRules<never>, "isDown" | "isOverwritten">): Store {
  const fits = (name: string, limit: number) => [...name].length <= limit;
  return {
    pipeds: openTable(PipedSchema, {
      keyOf: uuidOf,
      ...common,
      fits: (row) =>
        problemOf(modelRules, PipedSchema, row) === undefined && fits(row.name, nameLimits.piped),
      order: (a, b) => inOrder(binaryOrder(a.id), binaryOrder(b.id)),
    }),
    applications: openTable(ApplicationSchema, {
      keyOf: uuidOf,
      ...common,
      fits: (row) =>
        problemOf(modelRules, ApplicationSchema, row) === undefined && fits(row.name, nameLimits.application),
      order: (a, b) => Number(b.updatedAt - a.updatedAt) || inOrder(binaryOrder(a.id), binaryOrder(b.id)),
    }),
    apiKeys: openTable(APIKeySchema, {
      keyOf: uuidOf,
      ...common,
      fits: (row) =>
        problemOf(modelRules, APIKeySchema, row) === undefined && fits(row.name, nameLimits.apiKey),
      order: (a, b) => inOrder(binaryOrder(a.id), binaryOrder(b.id)),
    }),
    events: openTable(EventSchema, {
      keyOf: uuidOf,
      ...common,
      fits: (row) =>
        problemOf(modelRules, EventSchema, row) === undefined && fits(row.name, nameLimits.event),
    }),
    commands: openTable(CommandSchema, { keyOf: uuidOf, ...common, fits: () => true }),
    projects: new Set(),
  };
}

/** Creates the empty caches of a new process. */
export const openMemory = (clock: () => number): Memory => ({
  apiKeys: openTtlCache(5 * minute, clock),
  roles: openTtlCache(10 * minute, clock),
  pipeds: openPipedMemory(clock),
  projectOfPiped: openTtlCache(24 * hour, clock),
  projectOfApplication: openTtlCache(24 * hour, clock),
});

/** Whether the datastore has a project. Throws `StoreError` during an outage. */
export function storeHasProject({ store, outage }: PlaneC, project: string): boolean {
  if (outage.datastore) throw new StoreError("failed");
  return store.projects.has(project);
}

const inOrder = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

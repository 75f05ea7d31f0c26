/** State of a control plane of PipeCD v0.9.0: MongoDB, and in-process caches. */
import {
  type Application,
  ApplicationSchema,
  type Environment,
  EnvironmentSchema,
  type Piped,
  PipedSchema,
} from "@denrei/functions/pipecd/api/generated/l0/model_pb";
import { openPipedMemory, type PipedMemory } from "../pipedtokens.ts";
import type { Plane } from "../plane.ts";
import { openTable, type Table, type TableRules } from "../table.ts";
import { hour, openTtlCache, type TtlCache } from "../ttlcache.ts";
import { problemOf } from "../validation.ts";
import { modelRules } from "./rules.ts";

/** The MongoDB database, with one collection per kind. Ids are strings, and names have no length limit. */
export interface Store {
  readonly environments: Table<Environment>;
  readonly pipeds: Table<Piped>;
  readonly applications: Table<Application>;
  /** Projects outside the configuration file. */
  readonly projects: Set<string>;
}

/** Caches of what the process has read from the datastore. */
export interface Memory {
  readonly pipeds: PipedMemory;
  /** Project of a piped or an application, by its id. */
  readonly projectOfPiped: TtlCache<string>;
  readonly projectOfApplication: TtlCache<string>;
}

/** The complete state. */
export interface PlaneL0 extends Plane {
  readonly store: Store;
  readonly memory: Memory;
}

/** Creates an empty datastore. */
export function openStore(faults: Pick<TableRules<never>, "isDown" | "isOverwritten">): Store {
  const common = { keyOf: (id: string) => id, ...faults };
  return {
    environments: openTable(EnvironmentSchema, {
      ...common,
      fits: (row) => problemOf(modelRules, EnvironmentSchema, row) === undefined,
    }),
    pipeds: openTable(PipedSchema, {
      ...common,
      fits: (row) => problemOf(modelRules, PipedSchema, row) === undefined,
    }),
    applications: openTable(ApplicationSchema, {
      ...common,
      fits: (row) => problemOf(modelRules, ApplicationSchema, row) === undefined,
      order: (a, b) => Number(b.updatedAt - a.updatedAt),
    }),
    projects: new Set(),
  };
}

/** Creates the empty caches of a new process. */
export const openMemory = (clock: () => number): Memory => ({
  pipeds: openPipedMemory(clock),
  projectOfPiped: openTtlCache(24 * hour, clock),
  projectOfApplication: openTtlCache(24 * hour, clock),
});

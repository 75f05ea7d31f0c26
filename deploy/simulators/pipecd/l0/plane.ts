/** The inside of a control plane of PipeCD v0.9.0: its MongoDB, and what its process remembers. */
import {
  type Application,
  ApplicationSchema,
  type Environment,
  EnvironmentSchema,
  type Piped,
  PipedSchema,
} from "../../../../functions/pipecd/api/generated/l0/model_pb.ts";
import { openPipedMemory, type PipedMemory } from "../pipedtokens.ts";
import type { Plane } from "../plane.ts";
import { openTable, type Table, type TableRules } from "../table.ts";
import { hour, openTtlCache, type TtlCache } from "../ttlcache.ts";
import { problemOf } from "../validation.ts";
import { modelRules } from "./rules.ts";

/** MongoDB, with a collection per kind. Ids are text here, and names are as long as they like. */
export interface Store {
  readonly environments: Table<Environment>;
  readonly pipeds: Table<Piped>;
  readonly applications: Table<Application>;
  /** Projects that are not in the configuration file. */
  readonly projects: Set<string>;
}

/** What the process has read from the datastore, and goes on believing. */
export interface Memory {
  readonly pipeds: PipedMemory;
  /** Which project a piped or an application belongs to, by its id. */
  readonly projectOfPiped: TtlCache<string>;
  readonly projectOfApplication: TtlCache<string>;
}

/** All of it. */
export interface PlaneL0 extends Plane {
  readonly store: Store;
  readonly memory: Memory;
}

/** An empty datastore. */
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

/** What a process remembers when it starts: nothing. */
export const openMemory = (clock: () => number): Memory => ({
  pipeds: openPipedMemory(clock),
  projectOfPiped: openTtlCache(24 * hour, clock),
  projectOfApplication: openTtlCache(24 * hour, clock),
});

/** Authentication of pipeds. Both versions verify tokens in the same way and cache pipeds for half an hour. */
import { type Metadata, pipedTokenOf, unauthenticatedError } from "./metadata.ts";
import { matches } from "./secrets.ts";
import { StoreError } from "./table.ts";
import { hour, minute, openTtlCache, type TtlCache } from "./ttlcache.ts";

/** An authenticated piped. */
export interface PipedCaller {
  readonly project: string;
  readonly id: string;
}

/** The fields of a piped that are verified. */
interface Piped {
  readonly projectId: string;
  readonly disabled: boolean;
  readonly keys: readonly { readonly hash: string }[];
}

/** A process's caches of pipeds that have called. */
export interface PipedMemory {
  readonly projects: TtlCache<true>;
  readonly pipeds: TtlCache<Piped>;
  readonly wrongKeys: TtlCache<true>;
}

/** Creates the empty caches of a new process. */
export const openPipedMemory = (clock: () => number): PipedMemory => ({
  projects: openTtlCache(12 * hour, clock),
  pipeds: openTtlCache(30 * minute, clock),
  wrongKeys: openTtlCache(30 * minute, clock),
});

/** Reads from the datastore. Both throw `StoreError`. */
export interface PipedSource {
  readonly hasProject: (id: string) => boolean;
  readonly piped: (id: string) => Piped;
}

/** Authenticates the piped in `authorization`. A key that is valid in the cache is accepted; any other causes a new read. */
export function pipedCaller(memory: PipedMemory, source: PipedSource, metadata: Metadata): PipedCaller {
  const { project, piped: id, key } = pipedTokenOf(metadata);
  const token = `${project}#${id}#${key}`;
  if (!knowsProject(memory, source, project) || memory.wrongKeys.get(token)) throw unauthenticatedError();
  const cached = memory.pipeds.get(id);
  if (cached && problemOf(cached, project, key) === undefined) return { project, id };
  const piped = ifStored(() => source.piped(id));
  if (piped === undefined) throw unauthenticatedError();
  memory.pipeds.put(id, piped);
  const problem = problemOf(piped, project, key);
  if (problem === "wrong key") memory.wrongKeys.put(token, true);
  if (problem !== undefined) throw unauthenticatedError();
  return { project, id };
}

function problemOf(piped: Piped, project: string, key: string): "not allowed" | "wrong key" | undefined {
  if (piped.projectId !== project || piped.disabled) return "not allowed";
  return piped.keys.some(({ hash }) => matches(hash, key)) ? undefined : "wrong key";
}

function knowsProject(memory: PipedMemory, source: PipedSource, project: string): boolean {
  if (memory.projects.get(project)) return true;
  const found = ifStored(() => source.hasProject(project)) ?? false;
  if (found) memory.projects.put(project, true);
  return found;
}

/** Authentication treats an unavailable datastore like a missing row. */
export function ifStored<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof StoreError) return undefined;
    throw error;
  }
}

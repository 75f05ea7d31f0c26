/** Tokens of pipeds: both versions verify them alike, and believe what they have read for half an hour. */
import { type Metadata, pipedTokenOf, stranger } from "./metadata.ts";
import { matches } from "./secrets.ts";
import { StoreError } from "./table.ts";
import { hour, minute, openTtlCache, type TtlCache } from "./ttlcache.ts";

/** A piped that has shown its key. */
export interface PipedCaller {
  readonly project: string;
  readonly id: string;
}

/** What is verified of a piped. */
interface Piped {
  readonly projectId: string;
  readonly disabled: boolean;
  readonly keys: readonly { readonly hash: string }[];
}

/** What a process remembers of pipeds that have called. */
export interface PipedMemory {
  readonly projects: TtlCache<true>;
  readonly pipeds: TtlCache<Piped>;
  readonly wrongKeys: TtlCache<true>;
}

/** Of a process that has just started. */
export const openPipedMemory = (clock: () => number): PipedMemory => ({
  projects: openTtlCache(12 * hour, clock),
  pipeds: openTtlCache(30 * minute, clock),
  wrongKeys: openTtlCache(30 * minute, clock),
});

/** What the datastore knows. Both throw `StoreError`. */
export interface PipedSource {
  readonly hasProject: (id: string) => boolean;
  readonly piped: (id: string) => Piped;
}

/** The piped in `authorization`. A key that was good is good until another one makes the piped be read again. */
export function pipedCaller(memory: PipedMemory, source: PipedSource, metadata: Metadata): PipedCaller {
  const { project, piped: id, key } = pipedTokenOf(metadata);
  const token = `${project}#${id}#${key}`;
  if (!knowsProject(memory, source, project) || memory.wrongKeys.get(token)) throw stranger();
  const remembered = memory.pipeds.get(id);
  if (remembered && problemOf(remembered, project, key) === undefined) return { project, id };
  const piped = ifStored(() => source.piped(id));
  if (piped === undefined) throw stranger();
  memory.pipeds.put(id, piped);
  const problem = problemOf(piped, project, key);
  if (problem === "wrong key") memory.wrongKeys.put(token, true);
  if (problem !== undefined) throw stranger();
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

/** Who verifies credentials cannot tell a datastore that is down from a row that is not there. */
export function ifStored<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof StoreError) return undefined;
    throw error;
  }
}

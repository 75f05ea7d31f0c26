/**
 * The project that a function's streams belong to. Projects that share a bus may not share the name of a function: their
 * workers would take each other's requests.
 */
import { JetStreamApiError, type JetStreamManager } from "@nats-io/jetstream";
import { activityStream, functionIn, timersStream, workStream } from "../subjects.ts";
import type { Metadata } from "./version.ts";

/** Key in the metadata of a function's streams. */
const projectKey = "denrei.dev/project";

/** A function of this project has the name of a function of another one. A retry does not help. */
export class ForeignFunctionError extends Error {
  override readonly name = "ForeignFunctionError";
}

/** Metadata of the streams of a project's functions; empty without a project. */
export const ownerMetadata = (project: string | undefined): Metadata =>
  project === undefined ? {} : { [projectKey]: project };

/** The project that the metadata of a stream names. */
export const ownerIn = (metadata: Metadata | undefined): string | undefined => metadata?.[projectKey];

/** The functions of a project that have streams. */
export async function functionsOf(jsm: JetStreamManager, project: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { config } of jsm.streams.list()) {
    const fn = functionIn(config.name);
    if (fn !== undefined && ownerIn(config.metadata) === project) found.push(fn);
  }
  return [...new Set(found)].sort();
}

/** The project of a function; undefined if the bus does not know the function, or not its project. */
export async function ownerOf(jsm: JetStreamManager, fn: string): Promise<string | undefined> {
  try {
    return ownerIn((await jsm.streams.info(workStream(fn))).config.metadata);
  } catch (error) {
    if (error instanceof JetStreamApiError && error.status === 404) return undefined;
    throw error;
  }
}

/** Throws a {@link ForeignFunctionError} if one of the functions belongs to another project than this one. */
export async function expectOwn(
  jsm: JetStreamManager,
  fns: readonly string[],
  project: string | undefined,
): Promise<void> {
  if (project === undefined) return;
  const owners = await Promise.all(fns.map((fn) => ownerOf(jsm, fn)));
  for (const [at, owner] of owners.entries())
    if (owner !== undefined && owner !== project)
      throw new ForeignFunctionError(
        `the function ${fns[at]} of this bus belongs to the project "${owner}", and this is the project "${project}". ` +
          "Rename the function in one of them. If it moved here, or if this project has a new name, remove it from the " +
          `former project, and run: npx denrei adopt ${fns[at]}`,
      );
}

/** Makes a function part of a project: from now on, processes of its former project refuse to run it. */
export async function adopt(jsm: JetStreamManager, fn: string, project: string): Promise<void> {
  for (const stream of [timersStream(fn), activityStream(fn), workStream(fn)]) {
    const { config } = await jsm.streams.info(stream);
    await jsm.streams.update(stream, { metadata: { ...config.metadata, ...ownerMetadata(project) } });
  }
}

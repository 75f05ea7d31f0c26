/** Events of the bridge as they are received: anybody may have written what lies in their place. */
import { isPathSegment, isVersion, type KubeObject, type Stored } from "../kube/object.ts";
import { type ObjectAddress, parseObjectSubject } from "../subjects.ts";
import { attribute, isChange, isDeletion, isPartial, versionOf } from "./attributes.ts";

/** A message in a place of the bridge's events is none. */
export class MalformedEventError extends Error {
  override readonly name = "MalformedEventError";
}

/** The object that a subject of OBJECTS is about. Throws {@link MalformedEventError} where there can be none. */
export function addressIn(subject: string): ObjectAddress & { readonly cluster: string } {
  let at: ReturnType<typeof parseObjectSubject>;
  try {
    at = parseObjectSubject(subject);
  } catch (error) {
    throw new MalformedEventError((error as Error).message, { cause: error });
  }
  if (!isPathSegment(at.name) || (at.namespace !== "" && !isPathSegment(at.namespace)))
    throw new MalformedEventError(`expected the names of an object in the subject "${subject}"`);
  return at;
}

/** What the headers of an event of the bridge say. */
export interface ChangeHead {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly deleted: boolean;
  /** The object did not fit into the message: its data has some of the metadata, and nothing else. */
  readonly partial: boolean;
}

/** Reads the headers of an event of the bridge. Throws {@link MalformedEventError}. */
export function changeHead(headers: Parameters<typeof attribute>[0]): ChangeHead {
  const id = attribute(headers, "id");
  const type = attribute(headers, "type");
  const version = versionOf(id);
  if (version === undefined || !isVersion(version.resourceVersion) || !isChange(type)) {
    throw new MalformedEventError(
      `expected a change of an object with the id <uid>.<resourceVersion>, found the type "${type}" and the id "${id}"`,
    );
  }
  return { ...version, deleted: isDeletion(type), partial: isPartial(headers) };
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Reads the data of an event of the bridge. Throws {@link MalformedEventError} on what is no object of Kubernetes. */
export function changedObject<T extends KubeObject>(data: string): Stored<T> {
  let object: unknown;
  try {
    object = JSON.parse(data);
  } catch (error) {
    throw new MalformedEventError(`expected an object as JSON, found ${quoted(data)}`, { cause: error });
  }
  const metadata = isRecord(object) ? object.metadata : undefined;
  const owners = isRecord(metadata) ? (metadata.ownerReferences ?? []) : undefined;
  const known =
    isRecord(object) &&
    isRecord(metadata) &&
    [object.apiVersion, object.kind, metadata.uid].every((text) => typeof text === "string") &&
    isPathSegment(metadata.name) &&
    (metadata.namespace === undefined || isPathSegment(metadata.namespace)) &&
    Array.isArray(owners) &&
    owners.every(
      (owner) =>
        isRecord(owner) &&
        [owner.apiVersion, owner.kind, owner.name].every((text) => typeof text === "string"),
    );
  if (!known) throw new MalformedEventError(`expected an object of Kubernetes, found ${quoted(data)}`);
  return object as Stored<T>;
}

const quoted = (data: string): string => JSON.stringify(data.slice(0, 200));

/** Reads events of the bridge. Other clients may have written under the same subjects. */
import { isPathSegment, isVersion, type KubeObject, type Stored } from "../kube/object.ts";
import { type ObjectAddress, parseObjectSubject } from "../subjects.ts";
import { attribute, isChange, isCorrection, isDeletion, isPartial, versionOf } from "./attributes.ts";

/** A message under a subject of the bridge is not one of its events. */
export class MalformedEventError extends Error {
  override readonly name = "MalformedEventError";
}

/** The object that a subject of OBJECTS names. Throws {@link MalformedEventError} if no object can have the name. */
export function addressIn(subject: string): ObjectAddress & { readonly cluster: string } {
  let at: ReturnType<typeof parseObjectSubject>;
  try {
    at = parseObjectSubject(subject);
  } catch (error) {
    throw new MalformedEventError((error as Error).message, { cause: error });
  }
  if (!isPathSegment(at.name) || (at.namespace !== "" && !isPathSegment(at.namespace)))
    throw new MalformedEventError(`the subject "${subject}" does not name an object`);
  return at;
}

/** The headers of a bridge event. */
export interface ChangeHead {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly deleted: boolean;
  /** The object did not fit into the message: its data has only a part of the metadata. */
  readonly partial: boolean;
  /** The event corrects the one before, which lacked fields of the object. */
  readonly correction: boolean;
}

/** Reads the headers of a bridge event. Throws {@link MalformedEventError}. */
export function changeHead(headers: Parameters<typeof attribute>[0]): ChangeHead {
  const id = attribute(headers, "id");
  const type = attribute(headers, "type");
  const version = versionOf(id);
  if (version === undefined || !isVersion(version.resourceVersion) || !isChange(type)) {
    throw new MalformedEventError(
      `expected a change of an object with the id <uid>.<resourceVersion>, found the type "${type}" and the id "${id}"`,
    );
  }
  return {
    ...version,
    deleted: isDeletion(type),
    partial: isPartial(headers),
    correction: isCorrection(headers),
  };
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Reads the data of a bridge event. Throws {@link MalformedEventError} if it is not a Kubernetes object. */
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
  if (!known) throw new MalformedEventError(`expected a Kubernetes object, found ${quoted(data)}`);
  return object as Stored<T>;
}

const quoted = (data: string): string => JSON.stringify(data.slice(0, 200));

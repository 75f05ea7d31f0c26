/** Changes of Kubernetes objects as CloudEvents. */
import { CloudEvent } from "cloudevents";
import { resourcePath } from "../kube/client.ts";
import { domain } from "../kube/domain.ts";
import type { Kind } from "../kube/kind.ts";
import { controllerOf, type KubeObject, type Stored } from "../kube/object.ts";
import { keyText, type ObjectAddress } from "../subjects.ts";
import { newTrace } from "../tracing/trace.ts";
import { digestOf } from "../values/digest.ts";
import { redactedValue } from "../values/redact.ts";
import { type Change, changeType, partialAttribute } from "./attributes.ts";

export { type Change, changeType, isDeletion, versionOf } from "./attributes.ts";

/** The address at which an object is published. */
export function addressOf(kind: Kind, object: KubeObject): ObjectAddress {
  return {
    group: kind.group,
    kind: kind.kind,
    namespace: object.metadata.namespace ?? "",
    owner: controllerOf(object)?.uid ?? "",
    name: object.metadata.name,
  };
}

const none: ReadonlySet<string> = new Set();

/** Increment when {@link publishable} or the redaction changes, so that bridges publish objects again. */
const publishRules = 1;

/** Identifies what {@link publishable} keeps of a kind's objects. */
export const publishedForm = ({ publish, fields }: Kind, allowed: ReadonlySet<string> = none): string =>
  digestOf([publishRules, publish, fields ?? "all", publish === "metadata" ? [...allowed].sort() : []], 16);

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

/** The platform's own annotations that link a child to an owner in another namespace. */
const ownerAnnotations = `${domain}/owner-`;

/** The object with only these fields, if they are given. */
const withFields = (object: Stored, fields: Kind["fields"]): Partial<Stored> =>
  fields === undefined
    ? object
    : (picked(
        object,
        fields.map((path) => path.split(".")),
      ) as Partial<Stored>);

function picked(value: unknown, paths: readonly (readonly string[])[]): unknown {
  if (paths.some((path) => path.length === 0)) return value;
  if (Array.isArray(value)) return value.map((one) => picked(one, paths));
  if (typeof value !== "object" || value === null) return undefined;
  const entries = Object.entries(value).flatMap(([name, one]) => {
    const below = paths.flatMap(([first, ...rest]) => (first === name ? [rest] : []));
    return below.length === 0 ? [] : [[name, picked(one, below)] as const];
  });
  return Object.fromEntries(entries);
}

/**
 * Removes what never goes on the bus: managedFields, the last-applied annotation, fields that the kind does not publish, and
 * credentials that a program printed into the status. Of Secrets, ConfigMaps, and other kinds with confidential content, it
 * keeps the metadata, and of their annotations only those allowed by name: tools keep copies of the content in annotations
 * under unpredictable names.
 */
export function publishable(kind: Kind, object: Stored, allowed: ReadonlySet<string> = none): Stored {
  const { managedFields: _managed, ...metadata } = object.metadata as Stored["metadata"] & {
    managedFields?: unknown;
  };
  if (metadata.annotations && lastApplied in metadata.annotations) {
    const { [lastApplied]: _applied, ...annotations } = metadata.annotations;
    metadata.annotations = annotations;
  }
  const { apiVersion, kind: name } = object;
  const whole = kind.publish === "object" ? withFields(object, kind.fields) : {};
  if (metadata.annotations && kind.publish === "metadata")
    metadata.annotations = Object.fromEntries(
      Object.entries(metadata.annotations).filter(
        ([name]) => allowed.has(name) || name.startsWith(ownerAnnotations),
      ),
    );
  // Termination messages and conditions of other controllers contain output of programs.
  const status = "status" in whole ? { status: redactedValue(whole.status) } : {};
  return { ...whole, ...status, apiVersion, kind: name, metadata } as Stored;
}

/**
 * Smaller and smaller events for an object that does not fit into a message: with its metadata, then only with its identity
 * and its controller. Readers get the rest from the API server.
 */
export function partialEvents(event: CloudEvent<Stored>, object: Stored): CloudEvent<Stored>[] {
  const { apiVersion, kind, metadata } = object;
  const { name, namespace, uid, resourceVersion, generation, creationTimestamp, deletionTimestamp } =
    metadata;
  const named = { name, namespace, uid, resourceVersion, generation, creationTimestamp, deletionTimestamp };
  const owner = controllerOf(object);
  return [metadata, { ...named, ...(owner && { ownerReferences: [owner] }) }].map((some) =>
    event.cloneWith({ [partialAttribute]: "true", data: { apiVersion, kind, metadata: some } as Stored }),
  );
}

/**
 * Builds the event of one change. `object` must be {@link publishable}. For a deletion it is the last known state, and
 * `resourceVersion` is the version of the deletion. Without `traceparent` a new trace starts.
 */
export function changeEvent(
  kind: Kind,
  change: Change,
  object: Stored,
  { resourceVersion = object.metadata.resourceVersion, traceparent = newTrace(), partial = false } = {},
): CloudEvent<Stored> {
  const { namespace = "", name, uid } = object.metadata;
  return new CloudEvent<Stored>({
    id: `${uid}.${resourceVersion}`,
    source: resourcePath(kind, namespace, name),
    type: changeType(change),
    subject: keyText({ namespace, name }),
    time: new Date().toISOString(),
    datacontenttype: "application/json",
    traceparent,
    ...(partial && { [partialAttribute]: "true" }),
    data: object,
  });
}

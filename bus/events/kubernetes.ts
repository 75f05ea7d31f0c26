/** Changes of Kubernetes objects as CloudEvents. */
import { CloudEvent } from "cloudevents";
import { resourcePath } from "../kube/client.ts";
import { domain } from "../kube/domain.ts";
import type { Kind } from "../kube/kind.ts";
import { controllerOf, type KubeObject, type Stored } from "../kube/object.ts";
import { keyText, type ObjectAddress } from "../subjects.ts";
import { digestOf } from "../values/digest.ts";
import { redactedValue } from "../values/redact.ts";
import { type Change, changeType, partialAttribute } from "./attributes.ts";
import { newTrace } from "./trace.ts";

export { type Change, changeType, isDeletion, versionOf } from "./attributes.ts";

/** Where an object is published. */
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

/** Raised when {@link publishable} or what is redacted changes, so that bridges look again at what is on the bus. */
const publishRules = 1;

/** Names what {@link publishable} leaves of objects of a kind. */
export const publishedForm = ({ publish, fields }: Kind, allowed: ReadonlySet<string> = none): string =>
  digestOf([publishRules, publish, fields ?? "all", publish === "metadata" ? [...allowed].sort() : []], 16);

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

/** Annotations of the platform's own, by which a child is tied to an owner in another namespace. */
const ownerAnnotations = `${domain}/owner-`;

/** The object with these fields alone, if they are given. */
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
 * An object without what never goes on the bus: managedFields, the last-applied annotation, fields that its kind does not publish, and
 * credentials that a program has printed into its status. Of Secrets, ConfigMaps and other kinds whose content is confidential it keeps the metadata, and of
 * their annotations those that are allowed by name: tools keep copies of the content in annotations, under names that cannot
 * be listed.
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
  // Termination messages and conditions of other controllers hold what their programs printed.
  const status = "status" in whole ? { status: redactedValue(whole.status) } : {};
  return { ...whole, ...status, apiVersion, kind: name, metadata } as Stored;
}

/**
 * An event of an object that does not fit into a message, with less and less of the object: its metadata, then what names
 * it and its controller. Readers ask the API server for the rest.
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
 * The event of one change. `object` must be {@link publishable}; of a deletion it is the last known state, and
 * `resourceVersion` the version at which it was gone. `traceparent` is that of its publishing; without one a trace begins.
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

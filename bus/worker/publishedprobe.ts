/** Finds out, at the declaration of a function, whether its code reads fields that are never on the bus. */
import { type Kind, kindText } from "../kube/kind.ts";
import type { Stored } from "../kube/object.ts";

/** A filter reads a field that the bridge does not publish. */
export class PublishedOnlyError extends TypeError {
  override readonly name = "PublishedOnlyError";

  constructor(kind: Kind, path: string) {
    const published = kind.publish === "metadata" ? ["metadata"] : (kind.fields ?? []);
    super(
      `a watch of ${kindText(kind)} cannot filter by ${path}, which is never on the bus: ` +
        `only ${published.join(", ")} of the kind is published` +
        (path === "metadata.annotations" ? ". Declare the annotations that the function reads" : ""),
    );
  }
}

/** An object of the kind without content. Reading an unpublished field throws a {@link PublishedOnlyError}. */
export function publishedProbe(kind: Kind, allowedAnnotations: readonly string[]): Stored {
  const { namespace, name, uid, resourceVersion } = probe;
  const metadata = { namespace, name, uid, resourceVersion, generation: 1, labels: {}, annotations: {} };
  const isPartial = kind.publish === "metadata" || kind.fields !== undefined;
  const published = new Set(["apiVersion", "kind", "metadata", ...(kind.fields ?? []).map(firstOf)]);
  const hidesAnnotations = kind.publish === "metadata" && allowedAnnotations.length === 0;
  const guarded = guardedBy(
    metadata,
    kind,
    "metadata.",
    (field) => hidesAnnotations && field === "annotations",
  );
  const object = { apiVersion: kind.version, kind: kind.kind, metadata: guarded };
  return guardedBy(object, kind, "", (field) => isPartial && !published.has(field)) as unknown as Stored;
}

const probe = { namespace: "default", name: "probe", uid: "probe", resourceVersion: "1" } as const;

const firstOf = (path: string): string => path.split(".")[0] ?? "";

/** Throws when a hidden field is read. */
const guardedBy = <T extends object>(
  target: T,
  kind: Kind,
  prefix: string,
  isHidden: (field: string) => boolean,
): T =>
  new Proxy(target, {
    get(found, field, receiver) {
      if (typeof field === "string" && isHidden(field))
        throw new PublishedOnlyError(kind, `${prefix}${field}`);
      return Reflect.get(found, field, receiver);
    },
  });

/** What bridges publish of a kind that several projects need. */
import type { Kind } from "../kube/kind.ts";
import { mergedPublished } from "../kube/mergedkinds.ts";
import type { ProjectRecord } from "./record.ts";

/** A kind as bridges publish it. */
export interface SharedKind {
  /** With the content that all projects need. */
  readonly kind: Kind;
  /** Annotations to publish if only the metadata is published. */
  readonly annotations: ReadonlySet<string>;
  /**
   * Projects use the kind in different versions, so the bus has a part of each object: functions read the rest from the API
   * server, each in its own version.
   */
  readonly partial: boolean;
  /** Other projects that need the kind. */
  readonly projects: readonly string[];
}

/** Combines what this project and others need of a kind. Every project gets the same result. */
export function sharedKind(
  kind: Kind,
  annotations: ReadonlySet<string>,
  others: readonly ProjectRecord[],
): SharedKind {
  const sharing = others.flatMap((record) => {
    const needed = record.kinds.find((one) => one.group === kind.group && one.kind === kind.kind);
    return needed === undefined ? [] : [{ record, needed }];
  });
  if (sharing.length === 0) return { kind, annotations, partial: false, projects: [] };
  const wanted = [kind, ...sharing.map(({ needed }) => needed)];
  return {
    kind: { ...kind, ...mergedPublished(wanted) },
    annotations: new Set([...annotations, ...sharing.flatMap(({ record }) => record.annotations)]),
    partial: wanted.some(({ version }) => version !== kind.version),
    projects: sharing.map(({ record }) => record.project),
  };
}

/** Which control plane an object belongs to. */
import type { KubeObject, Stored } from "../../../bus/kube/object.ts";
import type { ControlPlane } from "../kinds.ts";

/** An object that belongs to a control plane. */
export type Dependent = KubeObject<{
  readonly controlPlaneRef?: { readonly objectName: string } | undefined;
}>;

/**
 * The eldest of a namespace: the names of its objects are the same for all, so it is the only one that runs. Of two that were
 * created within a second it is the one that runs already.
 */
export const eldest = (planes: readonly Stored<ControlPlane>[]): Stored<ControlPlane> | undefined =>
  planes.toSorted(
    (a, b) =>
      (a.metadata.creationTimestamp ?? "").localeCompare(b.metadata.creationTimestamp ?? "") ||
      Number(hasRun(b)) - Number(hasRun(a)) ||
      a.metadata.name.localeCompare(b.metadata.name),
  )[0];

const hasRun = ({ status }: ControlPlane): boolean => status?.profile !== undefined;

/** The one that an object names, else the one that runs. `planes` are those of its namespace. */
export function planeOf(
  { spec: { controlPlaneRef } }: Dependent,
  planes: readonly Stored<ControlPlane>[],
): Stored<ControlPlane> | undefined {
  if (controlPlaneRef === undefined) return eldest(planes);
  return planes.find(({ metadata }) => metadata.name === controlPlaneRef.objectName);
}

/** Whether it runs, with the configuration that is wanted, and may be asked. */
export const isReady = ({ status, metadata }: Stored<ControlPlane>): boolean =>
  metadata.deletionTimestamp === undefined &&
  status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True") === true;

/** Finds the control plane that an object depends on. */
import type { KubeObject, Stored } from "denrei";
import type { ControlPlane } from "../kinds.ts";

/** An object that depends on a control plane. */
export type Dependent = KubeObject<{
  readonly controlPlaneRef?: { readonly objectName: string } | undefined;
}>;

/**
 * The oldest control plane of a namespace. Only that one runs, because object names are fixed. Of two created in the same second,
 * it is the one that already runs.
 */
export const oldest = (planes: readonly Stored<ControlPlane>[]): Stored<ControlPlane> | undefined =>
  planes.toSorted(
    (a, b) =>
      (a.metadata.creationTimestamp ?? "").localeCompare(b.metadata.creationTimestamp ?? "") ||
      Number(hasRun(b)) - Number(hasRun(a)) ||
      a.metadata.name.localeCompare(b.metadata.name),
  )[0];

const hasRun = ({ status }: ControlPlane): boolean => status?.profile !== undefined;

/** The control plane that an object refers to, otherwise the running one. `planes` are those of its namespace. */
export function planeOf(
  { spec: { controlPlaneRef } }: Dependent,
  planes: readonly Stored<ControlPlane>[],
): Stored<ControlPlane> | undefined {
  if (controlPlaneRef === undefined) return oldest(planes);
  return planes.find(({ metadata }) => metadata.name === controlPlaneRef.objectName);
}

/** Whether it runs the current configuration and is not being deleted. */
export const isReady = ({ status, metadata }: Stored<ControlPlane>): boolean =>
  metadata.deletionTimestamp === undefined &&
  status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True") === true;

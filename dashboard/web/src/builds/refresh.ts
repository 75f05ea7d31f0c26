/** Having an object looked at again, or a commit built again. */
import { annotations, kpack } from "../../../../functions/paas/names.ts";

/** A merge patch that has GitHub asked at once. */
export const refreshed = (): object => ({
  metadata: { annotations: { [annotations.refreshedAt]: new Date().toISOString().replace(/\.\d+Z$/, "Z") } },
});

/** A merge patch of the newest Build that has kpack make another one of the same, as `kp image trigger` does. */
export const rebuilt = (): object => ({
  metadata: { annotations: { [kpack.rebuild]: new Date().toISOString() } },
});

/** Having an object looked at again. */
import { annotations } from "../../../../functions/paas/names.ts";

/** A merge patch that has GitHub asked at once. */
export const refreshed = (): object => ({
  metadata: { annotations: { [annotations.refreshedAt]: new Date().toISOString().replace(/\.\d+Z$/, "Z") } },
});

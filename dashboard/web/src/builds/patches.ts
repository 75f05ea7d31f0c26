/** Merge patches that request a refresh or a build. */
import { annotations, kpack } from "@denrei/functions/paas/names";
import { timeText } from "denrei/kinds";

/** Requests a check of GitHub. */
export const refreshPatch = (): object => ({
  metadata: { annotations: { [annotations.refreshedAt]: timeText(Date.now()) } },
});

/** Applied to the newest Build, makes kpack build the same commit again, as `kp image trigger` does. */
export const rebuildPatch = (): object => ({
  metadata: { annotations: { [kpack.rebuild]: new Date().toISOString() } },
});

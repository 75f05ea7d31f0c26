/** Merge patches that request a refresh or a build. */

import { timeText } from "../../../../bus/kube/timetext.ts";
import { annotations, kpack } from "../../../../functions/paas/names.ts";

/** Requests a check of GitHub. */
export const refreshPatch = (): object => ({
  metadata: { annotations: { [annotations.refreshedAt]: timeText(Date.now()) } },
});

/** Applied to the newest Build, makes kpack build the same commit again, as `kp image trigger` does. */
export const rebuildPatch = (): object => ({
  metadata: { annotations: { [kpack.rebuild]: new Date().toISOString() } },
});

/** What the webhook of kpack v0.17.2 fills in, beside what it drops. */
import { buildFields, imageFields, known } from "./fields.ts";
import type { Cluster } from "./imagerules.ts";
import type { Build, Image } from "./kinds.ts";

/** The spec as it is stored. */
export function imageDefaults(image: Image, { hasDefaultStorageClass }: Cluster): Record<string, unknown> {
  return {
    serviceAccountName: "default",
    imageTaggingStrategy: "BuildNumber",
    failedBuildHistoryLimit: 10,
    successBuildHistoryLimit: 10,
    ...(hasDefaultStorageClass && { cache: { volume: { size: "2G" } } }),
    ...known(image.spec ?? {}, imageFields),
  };
}

/** The spec as it is stored. */
export const buildDefaults = (build: Build): Record<string, unknown> => ({
  serviceAccountName: "default",
  ...known(build.spec ?? {}, buildFields),
});

/** Defaulting by the webhook of kpack v0.17.2. It also drops unknown fields. */
import { buildFields, imageFields, known } from "./fields.ts";
import type { Cluster } from "./imagerules.ts";
import type { Build, Image } from "./kinds.ts";

/** Adds kpack's defaults to an Image's spec and drops unknown fields. */
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

/** Adds kpack's defaults to a Build's spec and drops unknown fields. */
export const buildDefaults = (build: Build): Record<string, unknown> => ({
  serviceAccountName: "default",
  ...known(build.spec ?? {}, buildFields),
});

/** kpack's Image of a RemoteSync. All revisions share one, so that builds have a cache, numbers, and a history. Pure. */

import type { NewChild, Stored } from "denrei";
import type { Image } from "../kinds/kpack.ts";
import type { RemoteSync } from "../kinds/remotesync.ts";
import { labels } from "../names.ts";
import { shorten } from "../shorten.ts";

export const imageNameOf = ({ metadata }: RemoteSync): string => shorten(`modoki-${metadata.name}`);
export const accountNameOf = ({ metadata }: RemoteSync): string => `modoki-${metadata.name}-builder`;

/** Valid registry tags: https://github.com/opencontainers/distribution-spec/blob/main/spec.md#pulling-manifests */
const tagText = (text: string): string =>
  text
    .replace(/[^A-Za-z0-9_.-]/g, "-")
    .replace(/^[.-]+/, "")
    .slice(0, 100) || "latest";

const limits = { failedBuildHistoryLimit: 3, successBuildHistoryLimit: 5 };
const resources = {
  requests: { cpu: "100m", memory: "512Mi" },
  limits: { memory: "2Gi" },
};

/** Inputs of an Image. */
export interface ImageInputs {
  readonly sync: Stored<RemoteSync>;
  readonly revision: string;
  /** Web address of the repository. */
  readonly url: string;
  readonly builder: { readonly kind: string; readonly name: string };
}

/** The desired Image. Its tag never changes, because kpack refuses changes of it. */
export function desiredImage({ sync, revision, url, builder }: ImageInputs): NewChild<Image> {
  const { spec, metadata } = sync;
  const { env, cacheSize, timeoutSeconds } = spec.build ?? {};
  const repository = spec.image.name;
  return {
    metadata: { name: imageNameOf(sync), labels: { [labels.remoteSync]: metadata.name } },
    spec: {
      tag: `${repository}:${tagText(metadata.name)}`,
      additionalTags: [`${repository}:${revision}`],
      builder: spec.builder ?? builder,
      serviceAccountName: accountNameOf(sync),
      source: {
        git: { url, revision },
        ...(spec.base.subPath && { subPath: spec.base.subPath }),
      },
      ...limits,
      ...(cacheSize !== undefined && { cache: { volume: { size: String(cacheSize) } } }),
      build: {
        resources: spec.build?.resources ?? resources,
        ...(env !== undefined && { env }),
        ...(timeoutSeconds !== undefined && { buildTimeout: timeoutSeconds }),
      },
    },
  };
}

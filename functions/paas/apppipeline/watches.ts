/** What wakes whoever speaks to GitHub for an AppPipeline: its token, and the site's settings. */
import { type Kind, Secret } from "../../../bus/kube/kind.ts";
import type { Stored } from "../../../bus/kube/object.ts";
import type { Cause } from "../../../bus/queue/request.ts";
import { keyText } from "../../../bus/subjects.ts";
import type { Watch } from "../../../bus/worker/function.ts";
import type { AppPipeline } from "../kinds/apppipeline.ts";
import { repositoryText } from "../remotesync/source.ts";
import { siteIndex, watchSite } from "../site/site.ts";

/** Finds AppPipelines by the Secret with their token, and all of them for the site. */
export const tokenIndexes = {
  ...siteIndex,
  secret: ({ metadata, spec }: Stored<AppPipeline>) => [
    keyText({ namespace: metadata.namespace ?? "", name: spec.base.github.secretName }),
  ],
} as const;

/** Finds AppPipelines by their repository. */
export const repositoryIndex = ({ spec: { base } }: Stored<AppPipeline>): readonly string[] => [
  repositoryText(base.github.owner, base.github.repo),
];

/** Wakes those that {@link tokenIndexes} finds. */
export const tokenWatches: readonly Watch[] = [
  watchSite as Watch,
  {
    kind: Secret as Kind,
    keys: ({ metadata: { namespace = "", name } }, find) => find("secret", keyText({ namespace, name })),
  },
];

/** Whether what is needed to speak to GitHub has changed. */
export const hasNewMeans = (causes: readonly Cause[]): boolean =>
  causes.some((cause) => cause.type === "object" && ["Secret", "ConfigMap"].includes(cause.kind));

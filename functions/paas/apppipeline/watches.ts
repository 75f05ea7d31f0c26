/** Watches for functions that access GitHub for an AppPipeline: its token, and the site's settings. */
import { type Cause, type Kind, keyText, Secret, type Stored, type Watch } from "denrei";
import { Installation } from "../../ghapp/apitoken.ts";
import { repositoryKeys } from "../identity.ts";
import type { AppPipeline } from "../kinds/apppipeline.ts";
import { siteIndex, watchSite } from "../site/site.ts";

/** Finds AppPipelines by the Secret with their token, and all of them for the site. */
export const tokenIndexes = {
  ...siteIndex,
  secret: ({ metadata, spec }: Stored<AppPipeline>) => [
    keyText({ namespace: metadata.namespace ?? "", name: spec.base.github.secretName }),
  ],
} as const;

const byName: Watch["keys"] = ({ metadata: { namespace = "", name } }, find) =>
  find("secret", keyText({ namespace, name }));

/** Finds AppPipelines by their repository. */
export const repositoryIndex = ({ spec: { base }, status }: Stored<AppPipeline>): readonly string[] =>
  repositoryKeys(base.github, status?.repository);

/** Enqueues the AppPipelines that {@link tokenIndexes} finds. */
export const tokenWatches: readonly Watch[] = [
  watchSite as Watch,
  { kind: Secret as Kind, keys: byName },
  // An Installation has the name of its Secret.
  { kind: Installation as Kind, keys: byName },
];

/** Whether the token, or the settings for GitHub, may have changed. */
export const hasNewCredentials = (causes: readonly Cause[]): boolean =>
  causes.some(
    (cause) => cause.type === "object" && ["Secret", "ConfigMap", "Installation"].includes(cause.kind),
  );

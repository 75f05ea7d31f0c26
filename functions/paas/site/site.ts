/** Reads the site's settings and chart, and reads them again after a change of the ConfigMap. */
import {
  BlockedError,
  ConfigMap,
  type ConfigMapObject,
  type Context,
  type KubeObject,
  platformNamespace,
  Recent,
  type Stored,
  type Watch,
} from "denrei";
import { retryMillis } from "../retry.ts";
import { type Config, parseConfig, SiteConfigError, siteKeys, siteName } from "./config.ts";

/** Contents of the ConfigMap. */
export interface Site {
  readonly config: Config;
  /** The site's own chart, if it has one. */
  readonly chart: { readonly source: string; readonly language: "ts" | "js" } | undefined;
}

/** Indexes all objects of a function: each depends on the site. */
export const siteIndex = { site: () => [siteName] };

/** A change of the site enqueues objects at this rate: all objects of a large cluster at once would delay everything else. */
const perSecond = 20;

/** Enqueues all objects of a function with {@link siteIndex}, at a limited rate, when the site changes. */
export const watchSite: Watch<ConfigMapObject> = {
  kind: ConfigMap,
  perSecond,
  keys: ({ metadata: { namespace, name } }, find) =>
    namespace === platformNamespace && name === siteName ? find("site", siteName) : [],
};

const noSite: Site = { config: parseConfig(""), chart: undefined };

/** Versions of the ConfigMap that this process has read. */
const known = new Recent<Site | BlockedError>({ keptMillis: 3_600_000, limit: 4 });
/** Caches for a moment that the ConfigMap does not exist. */
const absent = new Recent<Site>({ keptMillis: 5000, limit: 1 });

/** The current site. Throws a `BlockedError` when its settings are invalid. */
export async function siteOf({ read, live }: Pick<Context, "read" | "live">): Promise<Site> {
  const found = await read.get(ConfigMap, siteName, platformNamespace);
  // A new bus may receive Applications before the site's ConfigMap, so ask the API server before assuming that it is absent.
  const site = (found ? known.get(versionOf(found)) : absent.get(siteName)) ?? (await fetched(live));
  if (site instanceof BlockedError) throw site;
  return site;
}

/** Reads from the API server: the bus has no contents of ConfigMaps. */
async function fetched(live: Context["live"]): Promise<Site | BlockedError> {
  const found = await live.get(ConfigMap, siteName, platformNamespace);
  if (found === undefined) {
    absent.set(siteName, noSite);
    return noSite;
  }
  const site = siteIn(found);
  known.set(versionOf(found), site);
  return site;
}

const versionOf = ({ metadata }: Stored<KubeObject>): string => `${metadata.uid} ${metadata.resourceVersion}`;

function siteIn({ data = {} }: ConfigMapObject): Site | BlockedError {
  const blocked = (message: string) =>
    new BlockedError(
      "SiteConfigInvalid",
      `the ConfigMap ${siteName} in ${platformNamespace}: ${message}. Correct it there. Until then, nothing changes.`,
      retryMillis,
    );
  const keys: readonly string[] = Object.values(siteKeys);
  const unknown = Object.keys(data).filter((key) => !keys.includes(key));
  if (unknown.length > 0)
    return blocked(`unknown keys ${unknown.join(", ")}, expected only ${keys.join(", ")}`);
  const { [siteKeys.typescript]: ts, [siteKeys.javascript]: js } = data;
  if (ts !== undefined && js !== undefined)
    return blocked(`expected ${siteKeys.typescript} or ${siteKeys.javascript}, found both`);
  try {
    return {
      config: parseConfig(data[siteKeys.config] ?? ""),
      chart:
        ts !== undefined
          ? { source: ts, language: "ts" }
          : js !== undefined
            ? { source: js, language: "js" }
            : undefined,
    };
  } catch (error) {
    if (error instanceof SiteConfigError) return blocked(`${siteKeys.config}: ${error.message}`);
    throw error;
  }
}

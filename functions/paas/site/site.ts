/** The site as workers see it: its settings and its chart, read anew when the ConfigMap has changed. */
import { ConfigMap, type ConfigMapObject } from "../../../bus/kube/kind.ts";
import type { KubeObject, Stored } from "../../../bus/kube/object.ts";
import { platformNamespace } from "../../../bus/process/namespace.ts";
import { Recent } from "../../../bus/values/recent.ts";
import { BlockedError } from "../../../bus/worker/errors.ts";
import type { Context, Watch } from "../../../bus/worker/function.ts";
import { patience } from "../problems.ts";
import { type Config, parseConfig, SiteConfigError, siteKeys, siteName } from "./config.ts";

/** What the ConfigMap says. */
export interface Site {
  readonly config: Config;
  /** The site's own chart, if it has one. */
  readonly chart: { readonly source: string; readonly language: "ts" | "js" } | undefined;
}

/** Index of all objects of a function: the site is everybody's. */
export const siteIndex = { site: () => [siteName] };

/** What a change of the site wakes is paced: all of a large cluster at once would keep everybody else waiting. */
const perSecond = 20;

/** Wakes all objects of a function with {@link siteIndex}, one after another, when the site has changed. */
export const watchSite: Watch<ConfigMapObject> = {
  kind: ConfigMap,
  perSecond,
  keys: ({ metadata: { namespace, name } }, find) =>
    namespace === platformNamespace && name === siteName ? find("site", siteName) : [],
};

const noSite: Site = { config: parseConfig(""), chart: undefined };

/** Versions of the ConfigMap that this process has read. */
const known = new Recent<Site | BlockedError>({ keptMillis: 3_600_000, limit: 4 });
/** That there is none, as the API server has said a moment ago. */
const absent = new Recent<Site>({ keptMillis: 5000, limit: 1 });

/** The site as it is now. Throws a `BlockedError` when its settings are not what they may be. */
export async function siteOf({ read, live }: Pick<Context, "read" | "live">): Promise<Site> {
  const found = await read.get(ConfigMap, siteName, platformNamespace);
  // A bus that is new may have Applications before it has the site: what it lacks may be there all the same.
  const site = (found ? known.get(versionOf(found)) : absent.get(siteName)) ?? (await fetched(live));
  if (site instanceof BlockedError) throw site;
  return site;
}

/** On the bus there are no contents. */
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
      `the ConfigMap ${siteName} in ${platformNamespace}: ${message}. Correct it there; until then nothing is changed.`,
      patience,
    );
  const keys: readonly string[] = Object.values(siteKeys);
  const unknown = Object.keys(data).filter((key) => !keys.includes(key));
  if (unknown.length > 0)
    return blocked(`expected no other keys than ${keys.join(", ")}, found ${unknown.join(", ")}`);
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

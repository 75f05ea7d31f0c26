/** Resolves apiVersion and kind of manifests by discovery at the API server. */
import { externalKind, type Kind } from "denrei/kinds";
import { isNotFound, type KubeClient } from "denrei/kubernetes";

/** Response to `GET /apis/<group>/<version>` (`metav1.APIResourceList`). */
interface ResourceList {
  readonly resources: readonly {
    readonly name: string;
    readonly kind: string;
    readonly namespaced: boolean;
  }[];
}

/** The API server does not serve the kind: it is mistyped, or its CRD is missing. */
export class UnservedKindError extends Error {
  override readonly name = "UnservedKindError";
}

/** Resolves a kind. Throws {@link UnservedKindError}. */
export type Discovery = (apiVersion: string, kind: string) => Promise<Kind>;

/** Resolves kinds and caches those that it has found. */
export function openDiscovery(client: KubeClient): Discovery {
  const known = new Map<string, Kind>();

  async function look(apiVersion: string, kind: string): Promise<Kind> {
    const path = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const { resources } = await client
      .request<ResourceList>({ method: "GET", path })
      .catch((error: unknown) => {
        if (isNotFound(error)) return { resources: [] };
        throw error;
      });
    // Names with a slash are subresources: status, scale, log.
    const found = resources.find((one) => one.kind === kind && !one.name.includes("/"));
    if (found === undefined) {
      const others = [...new Set(resources.filter(({ name }) => !name.includes("/")).map((one) => one.kind))];
      throw new UnservedKindError(
        `expected the API server to serve ${kind} in ${apiVersion}, but there it has ${others.join(", ") || "nothing"}. ` +
          "Correct apiVersion and kind, or name the CRD in the option crds.",
      );
    }
    const [version = "", group = ""] = apiVersion.split("/").reverse();
    const scope = found.namespaced ? "Namespaced" : "Cluster";
    return externalKind({ group, version, kind, plural: found.name, scope });
  }

  return async (apiVersion, kind) => {
    const name = `${apiVersion} ${kind}`;
    const found = known.get(name) ?? (await look(apiVersion, kind));
    known.set(name, found);
    return found;
  };
}

/** Kinds by the names that manifests give them: the API server knows where their objects are. */
import type { KubeClient } from "../../bus/kube/client.ts";
import { isNotFound } from "../../bus/kube/errors.ts";
import { externalKind, type Kind } from "../../bus/kube/kind.ts";

/** What `GET /apis/<group>/<version>` answers (`metav1.APIResourceList`). */
interface ResourceList {
  readonly resources: readonly {
    readonly name: string;
    readonly kind: string;
    readonly namespaced: boolean;
  }[];
}

/** The API server serves no such kind: it is mistyped, or its CRD is not there. */
export class UnservedKindError extends Error {
  override readonly name = "UnservedKindError";
}

/** Looks a kind up. Throws {@link UnservedKindError}. */
export type Discovery = (apiVersion: string, kind: string) => Promise<Kind>;

/** Looks kinds up, and remembers those that it has found. */
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
    // Those with a slash are parts of others: status, scale, log.
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

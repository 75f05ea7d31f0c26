/** Asks the API server which kinds it serves: https://kubernetes.io/docs/concepts/overview/kubernetes-api/#discovery-api */
import type { KubeClient } from "./client.ts";
import { isNotFound } from "./errors.ts";
import { externalKind, type Kind } from "./kind.ts";
import { groupOf } from "./object.ts";

interface ResourceList {
  readonly resources?: readonly {
    readonly name: string;
    readonly kind: string;
    readonly namespaced: boolean;
  }[];
}

interface ApiGroup {
  readonly preferredVersion?: { readonly version: string };
}

type Client = Pick<KubeClient, "request">;

/** Only matching text may become part of a path. */
const apiVersionPattern =
  /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*\/)?[a-z0-9]+$/;

/**
 * Looks a kind up by its apiVersion and name. If the version is not served, returns the kind in the API server's preferred
 * version. Undefined if the API server does not serve it at all.
 */
export async function discoverKind(
  client: Client,
  apiVersion: string,
  kind: string,
  signal?: AbortSignal,
): Promise<Kind | undefined> {
  if (!apiVersionPattern.test(apiVersion)) return undefined;
  const group = groupOf(apiVersion);
  const version = apiVersion.slice(apiVersion.indexOf("/") + 1);
  const found = await inVersion(client, { group, version, kind }, signal);
  if (found !== undefined || group === "") return found;
  const served = await got<ApiGroup>(client, `/apis/${group}`, signal);
  const preferred = served?.preferredVersion?.version;
  if (preferred === undefined || preferred === version) return undefined;
  return inVersion(client, { group, version: preferred, kind }, signal);
}

async function inVersion(
  client: Client,
  { group, version, kind }: Pick<Kind, "group" | "version" | "kind">,
  signal: AbortSignal | undefined,
): Promise<Kind | undefined> {
  const path = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const list = await got<ResourceList>(client, path, signal);
  // Subresources have the kind of their body, and a slash in their name.
  const found = list?.resources?.find((one) => one.kind === kind && !one.name.includes("/"));
  if (found === undefined) return undefined;
  const scope = found.namespaced ? "Namespaced" : "Cluster";
  return externalKind({ group, version, kind, plural: found.name, scope });
}

const got = <R>(client: Client, path: string, signal: AbortSignal | undefined): Promise<R | undefined> =>
  client.request<R>({ method: "GET", path, signal }).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });

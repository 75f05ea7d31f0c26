/** Returns a shared cluster to its initial state by deleting everything that a test file has left there. */
import { isDeepStrictEqual } from "node:util";
import { type KubeClient, metadataOnly } from "../../bus/kube/client.ts";
import { isNotFound } from "../../bus/kube/errors.ts";
import type { ObjectMeta } from "../../bus/kube/object.ts";
import { poll } from "../../deploy/local/run/poll.ts";

/** The initial state of a cluster. */
export interface ClusterState {
  /** The objects and the fields that tests may change, by path. */
  readonly objects: ReadonlyMap<string, ObjectMeta>;
  /** The specs of CRDs by name: a test may change one for a while. */
  readonly crdSpecs: ReadonlyMap<string, unknown>;
}

/** A collection of objects: `/apis/apps/v1`, `deployments`. */
interface Resource {
  readonly root: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

interface Found {
  readonly resource: Resource;
  readonly path: string;
  readonly metadata: ObjectMeta;
}

/** Shorter than the deadline of a hook. A busy machine deletes a thousand objects in a minute. */
const deadlineMillis = 100_000;
const namespaces = "namespaces";
const crds = "customresourcedefinitions";
/** They contain other objects, or define their kinds. */
const outermost = new Set([namespaces, crds]);

/** Controllers write these all the time and delete them with the objects they describe. */
const derived = new Set([
  "leases",
  "endpoints",
  "endpointslices",
  "ipaddresses",
  "componentstatuses",
  "apiservices",
]);
/** Controllers create these in each namespace and restore them. */
const restored = ["configmaps/kube-root-ca.crt", "serviceaccounts/default"];
/** While a webhook has no server, the API server refuses deletions. */
const webhooks = new Set(["mutatingwebhookconfigurations", "validatingwebhookconfigurations"]);

/** The state of the cluster, once controllers have populated its namespaces. */
export function clusterState(client: KubeClient): Promise<ClusterState> {
  return poll(
    "controllers to fill every namespace",
    async () => {
      const found = await listAll(client);
      const paths = new Set(found.map(({ path }) => path));
      const missing = found
        .filter(({ resource }) => resource.plural === namespaces)
        .flatMap(({ path }) => restored.map((name) => `${path}/${name}`))
        .filter((path) => !paths.has(path));
      if (missing.length > 0) throw new Error(`missing: ${missing.join(", ")}`);
      return {
        objects: new Map(found.map(({ path, metadata }) => [path, metadata])),
        crdSpecs: await listCrdSpecs(client),
      };
    },
    { timeoutMillis: deadlineMillis },
  );
}

/**
 * Deletes every object that is not in the state, ignoring finalizers, and restores the labels of the others. Throws when an object of
 * the state is missing or its spec was changed.
 */
export async function resetCluster(client: KubeClient, state: ClusterState): Promise<void> {
  const isNew = ({ path }: Found): boolean => !state.objects.has(path);
  await removeAll(client, (await listAll(client, ({ plural }) => webhooks.has(plural))).filter(isNew));
  await poll(
    "the cluster to be empty",
    async () => {
      const found = await listAll(client);
      const added = found.filter(isNew);
      const isKept = keptIn(added.filter(({ resource }) => resource.plural === namespaces));
      const content = added.filter((one) => !outermost.has(one.resource.plural) && !isKept(one));
      if (content.length > 0)
        await clear(client, content, (one) => isNew(one) && !isKept(one), removeContent);
      else if (added.length > 0)
        await clear(client, added, (one) => isNew(one) && !isKept(one), removeOutermost);
      if (added.length > 0) throw new Error(`left: ${added.map(({ path }) => path).join(", ")}`);
      await restoreLabels(client, found, state);
      await expectSpecs(client, found, state);
    },
    { timeoutMillis: deadlineMillis },
  );
  await removeEvents(client, state);
}

/** Whether controllers would recreate an object because its namespace still exists. */
function keptIn(spaces: readonly Found[]): (one: Found) => boolean {
  const paths = new Set(spaces.flatMap(({ path }) => restored.map((name) => `${path}/${name}`)));
  return ({ path }) => paths.has(path);
}

/** Deletes the new objects of the affected resources, and lists only these resources until nothing is left. */
function clear(
  client: KubeClient,
  objects: readonly Found[],
  isNew: (one: Found) => boolean,
  removeNew: (client: KubeClient, added: readonly Found[], kept: readonly Found[]) => Promise<void>,
): Promise<void> {
  const keys = new Set(objects.map(({ resource }) => resourceKey(resource)));
  return poll(
    "some objects to be gone",
    async () => {
      const found = await listAll(client, (resource) => keys.has(resourceKey(resource)));
      const { added = [], kept = [] } = Object.groupBy(found, (one) => (isNew(one) ? "added" : "kept"));
      if (added.length === 0) return;
      await removeNew(client, added, kept);
      throw new Error(`left: ${added.map(({ path }) => path).join(", ")}`);
    },
    { timeoutMillis: deadlineMillis },
  );
}

async function removeContent(
  client: KubeClient,
  added: readonly Found[],
  kept: readonly Found[],
): Promise<void> {
  const shared = new Set(kept.map(collectionOf));
  await Promise.all(
    [...Map.groupBy(added, collectionOf)].map(([collection, objects]) =>
      shared.has(collection) ? removeAll(client, objects) : removeCollection(client, collection, objects),
    ),
  );
}

/** Deletes namespaces and kinds that have no objects anymore. */
async function removeOutermost(client: KubeClient, added: readonly Found[]): Promise<void> {
  await Promise.all(
    added.map((one) => (one.resource.plural === crds ? remove(client, one) : finalize(client, one))),
  );
}

const removeAll = (client: KubeClient, objects: readonly Found[]): Promise<unknown> =>
  Promise.all(objects.map((one) => remove(client, one)));

const resourceKey = ({ root, plural }: Resource): string => `${root}/${plural}`;

/** Lists every object, or those of some resources. */
async function listAll(
  client: KubeClient,
  isIncluded: (resource: Resource) => boolean = () => true,
): Promise<Found[]> {
  const resources = (await discover(client)).filter(isIncluded);
  const lists = await Promise.all(
    resources.map(async (resource) => {
      const { root, plural, namespaced } = resource;
      const list = await client
        .request<{ items: { metadata: ObjectMeta }[] }>({
          method: "GET",
          path: `${root}/${plural}`,
          accept: metadataOnly.list,
        })
        .catch(ignoreMissing);
      return (list?.items ?? []).map(({ metadata }): Found => {
        const scope = namespaced ? `${namespaces}/${metadata.namespace}/` : "";
        return { resource, path: `${root}/${scope}${plural}/${metadata.name}`, metadata };
      });
    }),
  );
  return lists.flat();
}

interface DiscoveryList {
  readonly items: readonly {
    readonly metadata: { readonly name?: string };
    readonly versions: readonly {
      readonly version: string;
      readonly resources?: readonly { resource: string; scope: string; verbs: readonly string[] }[];
    }[];
  }[];
}

/** https://kubernetes.io/docs/concepts/overview/kubernetes-api/#aggregated-discovery */
async function discover(client: KubeClient): Promise<Resource[]> {
  const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
  const lists = await Promise.all(
    ["/api", "/apis"].map(async (path) => ({
      path,
      list: await client.request<DiscoveryList>({ method: "GET", path, accept }),
    })),
  );
  return lists.flatMap(({ path, list }) =>
    list.items.flatMap(({ metadata: { name }, versions: [preferred] }) => {
      const root = [path, name, preferred?.version].filter(Boolean).join("/");
      return (preferred?.resources ?? [])
        .filter(
          ({ resource, verbs }) =>
            verbs.includes("list") && verbs.includes("delete") && !derived.has(resource),
        )
        .filter(({ resource }) => resource !== "events")
        .map(({ resource, scope }) => ({ root, plural: resource, namespaced: scope === "Namespaced" }));
    }),
  );
}

/** The path without the name. */
const collectionOf = ({ path }: Found): string => path.slice(0, path.lastIndexOf("/"));

const deleteOptions = {
  kind: "DeleteOptions",
  apiVersion: "v1",
  gracePeriodSeconds: 0,
  propagationPolicy: "Background",
} as const;

async function remove(client: KubeClient, one: Found): Promise<void> {
  if (one.resource.plural !== crds) await removeFinalizers(client, one);
  if (one.metadata.deletionTimestamp !== undefined) return;
  await client.request({ method: "DELETE", path: one.path, body: deleteOptions }).catch(ignoreMissing);
}

/** Deletes any number of objects in one request. */
async function removeCollection(client: KubeClient, path: string, objects: readonly Found[]): Promise<void> {
  await Promise.all(objects.map((one) => removeFinalizers(client, one)));
  await client.request({ method: "DELETE", path, body: deleteOptions }).catch(ignoreMissing);
}

async function removeFinalizers(client: KubeClient, { path, metadata }: Found): Promise<void> {
  if (!metadata.finalizers?.length) return;
  const body = { metadata: { finalizers: null } };
  await client
    .request({ method: "PATCH", path, contentType: "application/merge-patch+json", body })
    .catch(ignoreMissing);
}

/** Finalizes an empty namespace before the namespace controller goes through all of its resources. */
async function finalize(client: KubeClient, { path, metadata: { name } }: Found): Promise<void> {
  // Events are in no list and would survive in a namespace of the same name.
  await client
    .request({ method: "DELETE", path: `${path}/events`, body: deleteOptions })
    .catch(ignoreMissing);
  const body = { kind: "Namespace", apiVersion: "v1", metadata: { name }, spec: { finalizers: [] } };
  await client.request({ method: "PUT", path: `${path}/finalize`, body }).catch(ignoreMissing);
  // The first request marks it, the second removes it.
  for (let time = 0; time < 2; time++)
    await client.request({ method: "DELETE", path, body: deleteOptions }).catch(ignoreMissing);
}

async function restoreLabels(
  client: KubeClient,
  found: readonly Found[],
  state: ClusterState,
): Promise<void> {
  for (const { path, resource, metadata } of found) {
    if (resource.plural !== namespaces) continue;
    const then = state.objects.get(path)?.labels ?? {};
    const removed = Object.keys(metadata.labels ?? {}).filter((name) => !(name in then));
    if (removed.length === 0) continue;
    await client.request({
      method: "PATCH",
      path,
      contentType: "application/merge-patch+json",
      body: { metadata: { labels: { ...Object.fromEntries(removed.map((name) => [name, null])), ...then } } },
    });
  }
}

async function expectSpecs(client: KubeClient, found: readonly Found[], state: ClusterState): Promise<void> {
  const now = new Map(found.map((one) => [one.path, one]));
  const touched = [...state.objects].filter(
    ([path, { generation }]) => now.get(path)?.metadata.generation !== generation,
  );
  // Generations only grow, so a restored CRD has a different one.
  const isCrd = ([path]: (typeof touched)[number]) => now.get(path)?.resource.plural === crds;
  const specs = touched.some(isCrd) ? await listCrdSpecs(client) : undefined;
  for (const [path, { name }] of touched) {
    if (specs?.has(name) && isDeepStrictEqual(specs.get(name), state.crdSpecs.get(name))) continue;
    throw new Error(
      `expected ${path} to be unchanged, found it ${now.has(path) ? "changed" : "missing"}. Give this test its own control plane (startOwnTestEnvironment)`,
    );
  }
}

async function listCrdSpecs(client: KubeClient): Promise<ReadonlyMap<string, unknown>> {
  const { items } = await client.request<{
    items: { metadata: { name: string }; spec: unknown }[];
  }>({ method: "GET", path: `/apis/apiextensions.k8s.io/v1/${crds}` });
  return new Map(items.map(({ metadata, spec }) => [metadata.name, spec]));
}

/** Deletes Events of objects in namespaces that stay. */
async function removeEvents(client: KubeClient, state: ClusterState): Promise<void> {
  const paths = [...state.objects.keys()].filter(
    (path) => path.startsWith(`/api/v1/${namespaces}/`) && path.split("/").length === 5,
  );
  await Promise.all(paths.map((path) => client.request({ method: "DELETE", path: `${path}/events` })));
}

function ignoreMissing(error: unknown): undefined {
  if (isNotFound(error)) return undefined;
  throw error;
}

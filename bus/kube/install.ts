/** Installing CRDs: apply, and wait until the API server serves them. */
import { type KubeClient, resourcePath } from "./client.ts";
import { isNotFound } from "./errors.ts";
import { externalKind } from "./kind.ts";
import type { Condition, KubeObject, Stored } from "./object.ts";

type Crd = KubeObject<
  { group: string; names: { plural: string }; versions: { name: string; served: boolean }[] },
  { conditions?: Condition[] }
>;

export const CustomResourceDefinition = externalKind<Crd>({
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  scope: "Cluster",
});

const established = (crd: Stored<Crd>): boolean =>
  crd.status?.conditions?.some(({ type, status }) => type === "Established" && status === "True") ?? false;

/** Applies CRDs and waits until each is established and listed. Rejects with the reason of `signal`. */
export async function installCrds(
  client: KubeClient,
  manifests: readonly Record<string, unknown>[],
  options: { readonly fieldManager: string; readonly signal: AbortSignal },
): Promise<void> {
  await Promise.all(
    manifests.map(async (manifest) => {
      const applied = await client.apply(CustomResourceDefinition, manifest as unknown as Crd, {
        ...options,
        force: "take-ownership",
      });
      await untilEstablished(client, applied, options.signal);
      await untilServed(client, applied, options.signal);
    }),
  );
}

async function untilEstablished(client: KubeClient, crd: Stored<Crd>, signal: AbortSignal): Promise<void> {
  const { name } = crd.metadata;
  for (
    let current = crd;
    !established(current);
    current = await client.get(CustomResourceDefinition, { name }, signal)
  ) {
    const events = await client.watch<Crd>({
      path: resourcePath(CustomResourceDefinition),
      query: { fieldSelector: `metadata.name=${name}`, resourceVersion: current.metadata.resourceVersion },
      signal,
    });
    for await (const { object } of events) if (established(object)) return;
  }
}

/** Right after it is established a kind is still answered with 404, or with 429 (which the client waits for). */
async function untilServed(client: KubeClient, { spec }: Stored<Crd>, signal: AbortSignal): Promise<void> {
  for (const version of spec.versions.filter(({ served }) => served)) {
    const kind = externalKind({
      group: spec.group,
      version: version.name,
      kind: "",
      plural: spec.names.plural,
    });
    for (;;) {
      try {
        await client.list(kind, undefined, { limit: 1 }, signal);
        break;
      } catch (error) {
        if (!isNotFound(error) || signal.aborted) throw error;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  }
}

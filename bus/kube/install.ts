/** Installs CRDs: applies them, and waits until the API server serves them. */
import { setTimeout as sleep } from "node:timers/promises";
import { type KubeClient, resourcePath } from "./client.ts";
import { CrdRejectedError } from "./crdrejection.ts";
import { type CrdVersions, lostBy } from "./downgrade.ts";
import { ApiError, isInvalid, isNotFound } from "./errors.ts";
import { externalKind } from "./kind.ts";
import type { Condition, KubeObject, Stored } from "./object.ts";

type Crd = KubeObject<
  { group: string; names: { plural: string; kind: string }; versions: { name: string; served: boolean }[] },
  { conditions?: Condition[] }
>;

export const CustomResourceDefinition = externalKind<Crd>({
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  scope: "Cluster",
});

const usualAdvice =
  "a newer version has installed it, or its fields were taken out of the code since. Use the newer version; or, if they are not " +
  "needed any more, apply the older one yourself: denrei crds | kubectl apply --server-side --force-conflicts -f -";

/** The CRD in the cluster has something that the one to be installed lacks. */
export class CrdDowngradeError extends Error {
  override readonly name = "CrdDowngradeError";
  /** Name of the CRD. */
  readonly crd: string;
  /** What would be lost: `v1 .spec.words`, and how many more. */
  readonly lost: string;

  constructor(crd: string, lost: string, advice = usualAdvice, options?: ErrorOptions) {
    super(`the CRD ${crd} in the cluster has more than this version knows: ${lost}: ${advice}`, options);
    this.crd = crd;
    this.lost = lost;
  }
}

const pollMillis = 50;

const established = (crd: Stored<Crd>): boolean =>
  crd.status?.conditions?.some(({ type, status }) => type === "Established" && status === "True") ?? false;

/** Options of an installation. */
export interface InstallOptions {
  readonly fieldManager: string;
  readonly signal: AbortSignal;
  /** What to do about fields and versions that the manifests lack. Default: `refuse`. */
  readonly lostFields?: "refuse" | "drop";
  /** How long to wait for a CRD that is being deleted. Milliseconds; default a minute. */
  readonly deletionMillis?: number;
}

/**
 * Applies CRDs and waits until each is established and listed, after the end of a pending deletion. Rejects with the reason of
 * `signal`, if a deletion does not finish, with a {@link CrdRejectedError} if the API server rejects a CRD, or with a
 * {@link CrdDowngradeError} if a newer version's fields would be lost and `lostFields` does not allow it.
 */
export async function installCrds(
  client: KubeClient,
  manifests: readonly Record<string, unknown>[],
  options: InstallOptions,
): Promise<void> {
  await Promise.all(manifests.map((manifest) => install(client, manifest as unknown as Crd, options)));
}

/** A lost field would be dropped silently from objects at their next write. */
async function assertNoDowngrade(client: KubeClient, { metadata: { name }, spec }: Crd, signal: AbortSignal) {
  const found = await client.get(CustomResourceDefinition, { name }, signal).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  if (found === undefined || found.metadata.deletionTimestamp !== undefined) return;
  const [first, ...others] = lostBy(found.spec as CrdVersions, spec as CrdVersions);
  if (first === undefined) return;
  throw new CrdDowngradeError(name, others.length > 0 ? `${first} and ${others.length} more` : first);
}

async function install(client: KubeClient, manifest: Crd, options: InstallOptions): Promise<void> {
  if (options.lostFields !== "drop") await assertNoDowngrade(client, manifest, options.signal);
  const applied = await apply(client, manifest, options);
  if (applied.metadata.deletionTimestamp === undefined) {
    await untilEstablished(client, applied, options.signal);
    return untilServed(client, applied, options.signal);
  }
  // A deletion would also delete what was applied meanwhile.
  await untilGone(client, applied, options);
  return install(client, manifest, options);
}

async function apply(client: KubeClient, manifest: Crd, options: InstallOptions): Promise<Stored<Crd>> {
  try {
    return await client.apply(CustomResourceDefinition, manifest, { ...options, force: "take-ownership" });
  } catch (error) {
    if (!(error instanceof ApiError) || !isInvalid(error)) throw error;
    throw new CrdRejectedError({ name: manifest.metadata.name, kind: manifest.spec.names.kind }, error);
  }
}

async function untilGone(
  client: KubeClient,
  { metadata: { name, uid } }: Stored<Crd>,
  { signal, deletionMillis = 60_000 }: InstallOptions,
): Promise<void> {
  const isThere = () =>
    client.get(CustomResourceDefinition, { name }, signal).then(
      ({ metadata }) => metadata.uid === uid,
      (error: unknown) => {
        if (isNotFound(error)) return false;
        throw error;
      },
    );
  for (const until = performance.now() + deletionMillis; await isThere(); await sleep(pollMillis))
    if (performance.now() >= until)
      throw new Error(
        `the CRD ${name} is still being deleted. One of its objects may have a finalizer that no controller removes: look for it with \`kubectl get ${name} -A\`, and try again when it is deleted.`,
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

/** Right after a kind is established, requests may still get 404, or 429 (which the client retries). */
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
        await sleep(pollMillis);
      }
    }
  }
}

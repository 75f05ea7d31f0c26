/**
 * Opt-ins on a platform without an administrator: the label of a namespace is enough, and its bindings follow. In a cluster, an
 * administrator creates them with `denrei opt-in`.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { Namespace, optInLabel } from "denrei/kinds";
import { resourcePath } from "denrei/kubernetes";
import { apply, optInsOf, type RoleOptions, remove, untilInForce } from "./roles.ts";

/** How to follow opt-ins. */
export interface OptInOptions extends RoleOptions {
  /** The namespaces that the bridge watches, whatever their labels. If empty: all with the label. */
  readonly namespaces: readonly string[];
  readonly signal: AbortSignal;
  readonly onProblem: (error: Error) => void;
}

/** Pause before labels are read again after a failure. Milliseconds. */
const retryMillis = 1000;

/**
 * Gives each opted-in namespace its bindings until `signal` aborts, so that the label alone opts it in, and removes them when
 * the label is removed. Resolves when the present namespaces have theirs.
 */
export async function followOptIns(options: OptInOptions): Promise<void> {
  const { namespaces, signal, onProblem } = options;
  if (optInsOf(options, "any").length === 0) return;
  if (namespaces.length > 0) {
    await Promise.all(namespaces.map((one) => grantOptIn(options, one).catch(onProblem)));
    return;
  }
  let version: string | undefined = await optInPresent(options);
  async function follow(): Promise<void> {
    while (!signal.aborted) {
      try {
        await followFrom(options, version ?? (await optInPresent(options)));
      } catch (error) {
        if (signal.aborted) return;
        onProblem(error as Error);
        await sleep(retryMillis, undefined, { signal }).catch(() => undefined);
      }
      version = undefined;
    }
  }
  void follow();
}

const optedIn = { labelSelector: `${optInLabel}=true` };

/** Opts in the namespaces that have the label, and returns the version of the list. */
async function optInPresent(options: OptInOptions): Promise<string> {
  const { items, metadata } = await options.client.list(Namespace, undefined, optedIn, options.signal);
  const present = items.filter((namespace) => namespace.metadata.deletionTimestamp === undefined);
  // A namespace may be deleted meanwhile.
  await Promise.all(
    present.map(({ metadata: { name } }) => grantOptIn(options, name).catch(options.onProblem)),
  );
  return metadata.resourceVersion;
}

async function followFrom(options: OptInOptions, resourceVersion: string): Promise<void> {
  const { client, signal } = options;
  const request = { path: resourcePath(Namespace), query: { ...optedIn, resourceVersion }, signal };
  for await (const { type, object } of await client.watch(request)) {
    const { name, deletionTimestamp } = object.metadata;
    // With a selector, an object that loses the label is reported as deleted.
    if (type === "DELETED") await revokeOptIn(options, name);
    else if (type === "ADDED" && deletionTimestamp === undefined)
      await grantOptIn(options, name).catch(options.onProblem);
  }
}

/** Gives a namespace its bindings, and resolves when they are in force. */
export async function grantOptIn(options: RoleOptions, namespace: string): Promise<void> {
  const bindings = optInsOf(options, namespace);
  await apply(options.client, bindings);
  await untilInForce(options, bindings, namespace);
}

const revokeOptIn = (options: RoleOptions, namespace: string): Promise<void> =>
  remove(options.client, optInsOf(options, namespace));

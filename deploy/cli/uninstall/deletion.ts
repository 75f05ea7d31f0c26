/** Deletes the objects of a project while its functions run, and says what stays and why. */
import { setTimeout as sleep } from "node:timers/promises";
import { keyText } from "denrei/bus";
import { type Condition, controllerOf, kindText } from "denrei/kinds";
import { type FoundObject, isConflict, isNotFound, type KubeClient } from "denrei/kubernetes";
import { ExpectedError } from "denrei/runtime";
import { type Claim, isFinalized, takeInventory } from "./inventory.ts";

const pollMillis = 1_000;
/** The most objects in an error. */
const mostNamed = 20;

/** Options of a deletion. */
export interface DeletionOptions {
  readonly timeoutSeconds: number;
  readonly onProgress: (line: string) => void;
}

/**
 * Deletes all objects of the project's kinds, and waits until they no longer exist. Objects with a finalizer of the project are first: their
 * functions may need the others to clean up. Children are left to garbage collection. Throws an {@link ExpectedError} after the timeout.
 */
export async function deleteAll(client: KubeClient, claim: Claim, options: DeletionOptions): Promise<void> {
  const deadline = Date.now() + options.timeoutSeconds * 1_000;
  let lastCount: number | undefined;
  for (;;) {
    const { own } = await takeInventory(client, claim);
    if (own.length !== lastCount)
      options.onProgress(own.length === 0 ? "All are deleted." : `${own.length} left`);
    if (own.length === 0) return;
    lastCount = own.length;
    if (Date.now() > deadline) throw new ExpectedError(await remaining(client, claim, own, options));
    const finalized = own.filter(({ object }) => isFinalized(object, claim));
    const uids = new Set(own.map(({ object }) => object.metadata.uid));
    for (const one of finalized.length > 0 ? finalized : own) {
      const isChild = uids.has(controllerOf(one.object)?.uid ?? "");
      if (one.object.metadata.deletionTimestamp === undefined && !isChild) await deleteOne(client, one);
    }
    await sleep(pollMillis);
  }
}

async function deleteOne(client: KubeClient, { kind, object }: FoundObject): Promise<void> {
  const { namespace, name, uid } = object.metadata;
  try {
    await client.delete(kind, { namespace, name }, { uid, propagation: "Background" });
  } catch (error) {
    // The next list shows another object of the same name.
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}

async function remaining(
  client: KubeClient,
  claim: Claim,
  own: readonly FoundObject[],
  { timeoutSeconds }: DeletionOptions,
): Promise<string> {
  const lines: string[] = [];
  for (const one of own.slice(0, mostNamed))
    lines.push(`  ${textOf(one)}: ${await obstacle(client, claim, one)}`);
  const more = own.length > mostNamed ? [`  and ${own.length - mostNamed} more`] : [];
  return [
    `${own.length} objects still exist after ${timeoutSeconds} s:`,
    ...lines,
    ...more,
    "Run the command again once this is resolved. To give up what finalizers would clean up, stop the workers, and use --keep-objects.",
  ].join("\n");
}

const textOf = ({ kind, object: { metadata } }: FoundObject): string =>
  `${kindText(kind)} ${keyText({ namespace: metadata.namespace ?? "", name: metadata.name })}`;

/** Why an object still exists. */
async function obstacle(client: KubeClient, claim: Claim, { kind, object }: FoundObject): Promise<string> {
  const { namespace, name, finalizers = [] } = object.metadata;
  const fn = finalizers.map((one) => claim.finalizers.get(one)).find((one) => one !== undefined);
  if (fn !== undefined) {
    const current = await client.get(kind, { namespace, name }).catch(() => undefined);
    const { conditions = [] } = (current?.status ?? {}) as { readonly conditions?: readonly Condition[] };
    // A deletion changes the generation: a condition of an earlier one is about a reconcile.
    const stalled = conditions.find(
      ({ type, status, observedGeneration }) =>
        type === "Stalled" && status === "True" && observedGeneration === current?.metadata.generation,
    );
    return stalled === undefined
      ? `the function ${fn} has not finalized it. Does a worker of ${fn} run?`
      : `the function ${fn} cannot finalize it: ${stalled.message}`;
  }
  if (finalizers.length > 0) return `another controller has to remove ${finalizers.join(", ")}`;
  const controller = controllerOf(object);
  return controller === undefined
    ? "it was created again"
    : `its owner is ${controller.kind} ${controller.name}`;
}

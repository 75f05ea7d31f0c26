/** `denrei prune <function>`: what a function that was removed has left on objects, and all that it has left on the bus. */

import type { Settings } from "../../bus/config/config.ts";
import type { KubeClient } from "../../bus/kube/client.ts";
import { domain } from "../../bus/kube/domain.ts";
import { objectsWithFinalizer, removeFinalizer } from "../../bus/kube/finalizers.ts";
import { kindText } from "../../bus/kube/kind.ts";
import { aligned } from "../../bus/kube/table.ts";
import { connectCluster } from "../../bus/process/cluster.ts";
import { functionNamePattern, keyText } from "../../bus/subjects.ts";
import {
  functionOf,
  type LeftMessages,
  type Leftover,
  leftMessages,
  leftovers,
  removeMessages,
} from "../../bus/topology/leftovers.ts";
import { interestsOf } from "../../bus/worker/function.ts";
import { functions } from "../../functions/index.ts";
import { AbsentError, UsageError } from "../environment/errors.ts";
import { type BusSettings, withBus } from "./bus.ts";
import { functionNames } from "./named.ts";
import { say } from "./output.ts";
import { type PruneOptions, removeLeftovers, sayLeftovers } from "./prune.ts";

/** Where the function was. */
export type FunctionSettings = BusSettings & Settings<"kubeconfig" | "context">;

/** Leftovers of a function on the bus. */
interface OnTheBus {
  readonly found: readonly Leftover[];
  readonly messages: readonly LeftMessages[];
}

/**
 * Takes away what a function has left that this program does not have, or only prints it. Throws a {@link UsageError} for a function of
 * this program, and an {@link AbsentError} while a worker of it runs: it would put its finalizer back.
 */
export async function pruneFunction(
  name: string,
  settings: FunctionSettings,
  options: PruneOptions,
): Promise<void> {
  if (functionNames.includes(name))
    throw new UsageError(
      `${name} is a function of this program: only functions that were removed can be pruned`,
    );
  if (!functionNamePattern.test(name)) throw new UsageError(`"${name}" cannot be the name of a function`);
  const client = await connectCluster({ path: settings.kubeconfig, context: settings.context });
  try {
    const left = await onTheBus(name, settings, options);
    sayLeftovers(left.found, options);
    sayMessages(left.messages, options);
    const objects = await onObjects(name, client, options);
    if (left.found.length + left.messages.length + objects === 0) say(`${name} has left nothing.`);
  } finally {
    await client.connection.close();
  }
}

const onTheBus = (name: string, settings: FunctionSettings, options: PruneOptions): Promise<OnTheBus> =>
  withBus(settings, async ({ jsm }) => {
    const { cluster } = settings;
    const { dryRun = false } = options;
    const interests = interestsOf(functions, cluster);
    // A function that is named is not to come back.
    const all = await leftovers(jsm, { interests, cluster, latelyMillis: 0, force: true });
    const found = all.filter((one) => functionOf(one) === name);
    const used = found.find(({ kept }) => kept === "in use");
    if (used)
      throw new AbsentError(
        `a worker of ${name} still runs: it waits at ${used.stream}. Stop the function's workers first; they would put its finalizer back`,
      );
    const messages = await leftMessages(jsm, { fn: name, cluster });
    if (!dryRun) {
      await removeLeftovers(jsm, found);
      for (const one of messages) await removeMessages(jsm, one);
    }
    return { found, messages };
  });

function sayMessages(messages: readonly LeftMessages[], { dryRun = false }: PruneOptions): void {
  if (messages.length === 0) return;
  const rows = messages.map((one) => [
    one.stream,
    one.subjects,
    String(one.messages),
    dryRun ? "would be removed" : "removed",
  ]);
  say(aligned([["STREAM", "SUBJECTS", "MESSAGES", "OUTCOME"], ...rows]));
}

/** Resolves to the number of objects that have, or had, the finalizer. */
async function onObjects(
  name: string,
  client: KubeClient,
  { dryRun = false }: PruneOptions,
): Promise<number> {
  const finalizer = `${domain}/${name}`;
  const { found, unseen } = await objectsWithFinalizer(client, finalizer);
  for (const one of dryRun ? [] : found) await removeFinalizer(client, one, finalizer, `${domain}/prune`);
  const rows = found.map(({ kind, object: { metadata } }) => [
    kindText(kind),
    keyText({ namespace: metadata.namespace ?? "", name: metadata.name }),
    metadata.deletionTimestamp === undefined ? "" : "being deleted",
    dryRun ? "would be removed" : "removed",
  ]);
  if (rows.length > 0) say(aligned([["KIND", "OBJECT", "STATE", "FINALIZER"], ...rows]));
  if (unseen.length > 0)
    say(
      `Objects of these kinds may have the finalizer as well, but you may not list them: ${unseen.join(", ")}.`,
    );
  return found.length;
}

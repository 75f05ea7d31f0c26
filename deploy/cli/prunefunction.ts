/** `denrei prune <function>`: removes the finalizers and the bus data of a removed function. */
import {
  functionNamePattern,
  functionOf,
  keyText,
  type LeftMessages,
  type Leftover,
  leftMessages,
  leftovers,
  ownerOf,
  removeMessages,
} from "denrei/bus";
import { domain, kindText } from "denrei/kinds";
import {
  aligned,
  connectCluster,
  type KubeClient,
  objectsWithFinalizer,
  removeFinalizer,
} from "denrei/kubernetes";
import { AbsentError, openProject, type Settings, say, UsageError } from "denrei/runtime";
import { type BusSettings, withBus } from "./bus.ts";
import { type PruneOptions, printLeftovers, removeLeftovers } from "./prune.ts";

/** Settings of `denrei prune`. */
export type FunctionSettings = BusSettings & Settings<"kubeconfig" | "context">;

interface BusLeftovers {
  readonly found: readonly Leftover[];
  readonly messages: readonly LeftMessages[];
}

/**
 * Removes everything that a removed function has left, or only prints it (`dryRun`). Throws a {@link UsageError} for a function of this
 * or of another project. Throws an {@link AbsentError} while one of its workers runs: the worker would add its finalizer again.
 */
export async function pruneFunction(
  name: string,
  settings: FunctionSettings,
  options: PruneOptions,
): Promise<void> {
  const project = await openProject();
  if (project.functionNames.includes(name))
    throw new UsageError(`${name} is a function of this project: only removed functions can be pruned`);
  if (!functionNamePattern.test(name)) throw new UsageError(`"${name}" is not a valid function name`);
  const owner = await withBus(settings, ({ jsm }) => ownerOf(jsm, name));
  if (owner !== undefined && owner !== project.name)
    throw new UsageError(
      `${name} belongs to the project "${owner}": run the command there, or remove the whole project with denrei prune --project ${owner}`,
    );
  await removeFunctions([name], project.name, settings, options);
}

/** Removes everything that these functions of a project have left, or only prints it. Throws like {@link pruneFunction}. */
export async function removeFunctions(
  names: readonly string[],
  project: string,
  settings: FunctionSettings,
  options: PruneOptions,
): Promise<void> {
  const client = await connectCluster({ path: settings.kubeconfig, context: settings.context });
  try {
    for (const name of names) {
      const left = await pruneBus(name, project, settings, options);
      printLeftovers(left.found, options);
      printMessages(left.messages, options);
      const objects = await pruneFinalizers(name, client, options);
      if (left.found.length + left.messages.length + objects === 0) say(`${name} has no leftovers.`);
    }
  } finally {
    await client.connection.close();
  }
}

const pruneBus = (
  name: string,
  project: string,
  settings: FunctionSettings,
  options: PruneOptions,
): Promise<BusLeftovers> =>
  withBus(settings, async ({ jsm }) => {
    const { cluster } = settings;
    const { dryRun = false } = options;
    // The user says that the function does not return: check only for use, not for age or content.
    const all = await leftovers(jsm, { subscriptions: [], cluster, project, latelyMillis: 0, force: true });
    const found = all.filter((one) => functionOf(one) === name);
    const used = found.find(({ kept }) => kept === "in use");
    if (used)
      throw new AbsentError(
        `a worker of ${name} still runs and pulls from ${used.stream}. Stop the workers first: they would add the finalizer again`,
      );
    const messages = await leftMessages(jsm, { fn: name, cluster });
    if (!dryRun) {
      await removeLeftovers(jsm, found);
      for (const one of messages) await removeMessages(jsm, one);
    }
    return { found, messages };
  });

function printMessages(messages: readonly LeftMessages[], { dryRun = false }: PruneOptions): void {
  if (messages.length === 0) return;
  const rows = messages.map((one) => [
    one.stream,
    one.subjects,
    String(one.messages),
    dryRun ? "would be removed" : "removed",
  ]);
  say(aligned([["STREAM", "SUBJECTS", "MESSAGES", "OUTCOME"], ...rows]));
}

/** Returns the number of objects that have, or had, the finalizer. */
async function pruneFinalizers(
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
    say(`You may not list these kinds, whose objects may also have the finalizer: ${unseen.join(", ")}.`);
  return found.length;
}

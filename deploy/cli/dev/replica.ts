/**
 * A bridge or a worker of `denrei dev`: `node replica.ts bridge|worker <function…>`. Beside what such a one does in a cluster,
 * a worker brings the CRDs of its functions to what their code says, and tells what it was made of.
 */
import { startBridge } from "../../../bus/bridge/bridge.ts";
import { optedInNamespaces } from "../../../bus/bridge/optedin.ts";
import { processSettings, readSettings } from "../../../bus/config/config.ts";
import { type KubeClient, metadataOnly } from "../../../bus/kube/client.ts";
import { CrdDowngradeError, installCrds } from "../../../bus/kube/install.ts";
import type { Kind } from "../../../bus/kube/kind.ts";
import { busOptionsOf, type ProcessContext, type Running, runProcess } from "../../../bus/process/run.ts";
import { ticketQueue } from "../../../bus/queue/queue.ts";
import { newRequest } from "../../../bus/queue/request.ts";
import { ensureWebhooks, functionConsumers } from "../../../bus/topology.ts";
import { digestOf } from "../../../bus/values/digest.ts";
import { bridgeNeeds, type ReconcileFunction } from "../../../bus/worker/function.ts";
import { startWorker } from "../../../bus/worker/worker.ts";
import { UsageError } from "../../environment/errors.ts";
import { crdManifests } from "../../generate/crds.ts";
import { report } from "../explain.ts";
import { functionsNamed } from "../named.ts";
import { askSignal, crdDigestVariable, type Declared, lostFieldsVariable } from "./protocol.ts";

const lostFieldsAdvice =
  "others may use it, so that in a cluster of your own dev takes nothing away from a CRD. Take it back into the code; or, if nobody " +
  "needs it any more, apply what the code says yourself and save again: npx denrei crds | kubectl apply --server-side --force-conflicts -f -";

/** How long the API server may take to serve new CRDs. */
const installMillis = 30_000;

// From the first moment on: a signal that nobody waits for ends the process.
const asked = new Promise<void>((resolve) => process.once(askSignal, () => resolve()));
const [role, ...names] = process.argv.slice(2);
const functions = await load(names);
const settings = readSettings([...processSettings, "namespaces", "watchSeconds"], {}, process.env);
const busOptions = busOptionsOf(settings);
const needs = bridgeNeeds(functions, settings.cluster);
const { kinds, interests } = needs;

try {
  if (role === "bridge") {
    await runProcess("bridge", settings, (context) =>
      startBridge({ ...context, ...settings, ...needs, busOptions }),
    );
  } else {
    await runProcess("worker", settings, startTelling);
  }
} catch (error) {
  await report(error);
  process.exit();
}

/** What does not load is not caught: Node says then in which line of which file. */
async function load(wanted: readonly string[]): Promise<readonly ReconcileFunction[]> {
  try {
    return await functionsNamed(wanted);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    await report(error);
    process.exit();
  }
}

async function startTelling(context: ProcessContext): Promise<Running> {
  const crds = digestOf(crdManifests(functions));
  if (crds !== process.env[crdDigestVariable]) await installKinds(context);
  const declared: Declared = {
    functions: functions.map(({ name }) => name),
    resources: kinds
      .filter(({ definition }) => definition !== undefined)
      .map(({ plural, group }) => ({ plural, group })),
    crds,
    bridge: digestOf([
      kinds.map(({ group, version, plural, scope, reach }) => ({ group, version, plural, scope, reach })),
      interests.map((interest) => functionConsumers(interest, busOptions)),
    ]),
  };
  context.log.info(declared, "declared");
  // The bridge makes this stream too, but here it starts after the workers.
  if (interests.some(({ webhooks = [] }) => webhooks.length > 0))
    await ensureWebhooks(context.bus, busOptions);
  const running = await startWorker({ ...context, ...settings, busOptions, functions });
  void asked.then(() =>
    askForAll(context).catch((error: unknown) =>
      context.log.error({ err: error }, "not asked for all objects"),
    ),
  );
  return running;
}

/** What was reconciled by the code before is reconciled by this one. What somebody still has in hand is so afterwards. */
async function askForAll({ bus, client }: ProcessContext): Promise<void> {
  const { cluster, replica } = settings;
  for (const fn of functions) {
    const queue = ticketQueue(bus, { fn: fn.name, cluster }, { replica });
    const request = newRequest({ type: "replay" });
    for (const namespace of await namespacesOf(fn.for, client)) {
      const { items } = await client.list(fn.for, namespace, undefined, undefined, metadataOnly.list);
      for (const { metadata } of items)
        await queue.request({ namespace: metadata.namespace ?? "", name: metadata.name }, request);
    }
  }
}

/** Where the bridge looks: other objects are not there for these functions. All namespaces are one without a name. */
async function namespacesOf(
  { scope, reach }: Kind,
  client: KubeClient,
): Promise<Iterable<string | undefined>> {
  if (scope === "Cluster") return [undefined];
  if (settings.namespaces.length > 0) return settings.namespaces;
  return reach === "opted-in" ? optedInNamespaces(client) : [undefined];
}

async function installKinds({ client }: ProcessContext): Promise<void> {
  try {
    await installCrds(client, crdManifests(functions), {
      fieldManager: "denrei-cli",
      signal: AbortSignal.timeout(installMillis),
      lostFields: process.env[lostFieldsVariable] === "drop" ? "drop" : "refuse",
    });
  } catch (error) {
    if (!(error instanceof CrdDowngradeError)) throw error;
    throw new CrdDowngradeError(error.crd, error.lost, lostFieldsAdvice, { cause: error });
  }
}

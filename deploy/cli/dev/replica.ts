/**
 * A bridge or a worker of `denrei dev`: `node replica.ts bridge|worker <function…>`. In contrast to a worker in a cluster, this one
 * installs the CRDs of its functions and logs what its code declares.
 */

import { digestOf } from "denrei";
import { ensureWebhooks, functionConsumers, newRequest, optedInNamespaces, ticketQueue } from "denrei/bus";
import { type ConversionWebhook, type Kind, needsWebhook } from "denrei/kinds";
import {
  type ApiError,
  CrdDowngradeError,
  installCrds,
  isForbidden,
  type KubeClient,
  metadataOnly,
} from "denrei/kubernetes";
import {
  AbsentError,
  type Admission,
  accountSettings,
  admissionSettings,
  bridgeNeeds,
  busOptionsOf,
  kindsOf,
  needsOf,
  openProject,
  type ProcessContext,
  type ReconcileFunction,
  type Running,
  readSettings,
  report,
  runProcess,
  startAdmission,
  startBridge,
  startWorker,
  UsageError,
} from "denrei/runtime";
import { syncConfigurations } from "../../environment/configurations.ts";
import { followOptIns } from "../../environment/optins.ts";
import { applyRoles, ownRights } from "../../environment/roles.ts";
import { crdManifests } from "../../generate/crds.ts";
import { roleManifests, separateAccounts } from "../../generate/rbac.ts";
import { admissionConfigurations } from "../../generate/webhookconfigurations.ts";
import { functionsNamed } from "../named.ts";
import {
  crdDigestVariable,
  type Declared,
  lostFieldsVariable,
  requestAllSignal,
  roleDigestVariable,
  roleSuffixVariable,
  webhookVariable,
} from "./protocol.ts";

const lostFieldsAdvice =
  "others may use it, so denrei dev removes nothing from CRDs of an existing cluster. Restore it in the code. If it is no longer used, " +
  "apply the CRDs yourself and save again: npx denrei crds | kubectl apply --server-side --force-conflicts -f -";

const forbiddenAdvice =
  "denrei dev installs the CRDs of its functions, and this user may not. Use a user of the kubeconfig who may, or unset KUBECONFIG and " +
  "NATS_URL for a local platform.";

/** Time limit for the API server to serve new CRDs. */
const installMillis = 30_000;

// Before anything else: without a handler, the signal would end the process.
const allRequested = new Promise<void>((resolve) => process.once(requestAllSignal, () => resolve()));
const [role, ...names] = process.argv.slice(2);
const functions = await load(names);
const settings = readSettings([...accountSettings, "namespaces", "watchSeconds"], {}, process.env);
const project = await openProject();
// A bridge of some functions must not say what the whole project needs of a bus that others share.
const isWhole = role === "worker" || functions.length === project.functionNames.length;
const busOptions = busOptionsOf(settings, isWhole ? project : undefined);
const needs = bridgeNeeds(needsOf(functions), settings.cluster);
const { subscriptions } = needs;
const kinds = [...new Set(functions.flatMap(kindsOf))];
/** Aborts when the process stops. */
const ending = new AbortController();

try {
  if (role === "bridge") {
    await runProcess("bridge", settings, (context) =>
      startBridge({ ...context, ...settings, ...needs, busOptions }),
    );
  } else {
    await runProcess("worker", settings, startDevWorker);
  }
} catch (error) {
  await report(error);
  process.exit();
}

/** Loads the functions. Errors in their code are not caught, so that Node prints file and line. */
async function load(selected: readonly string[]): Promise<readonly ReconcileFunction[]> {
  try {
    return await functionsNamed(selected);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    await report(error);
    process.exit();
  }
}

async function startDevWorker(context: ProcessContext): Promise<Running> {
  const webhook = webhookOf(process.env[webhookVariable]);
  const manifests = crdManifests(functions, webhook);
  const configurations = webhook ? admissionConfigurations(functions, webhook) : [];
  const crds = digestOf([manifests, configurations]);
  // Before the CRDs are installed: the API server may already have objects to convert.
  const admission = webhook && (await startDevAdmission(context));
  if (crds !== process.env[crdDigestVariable]) {
    await installKinds(context, manifests);
    await installHooks(context, configurations);
  }
  const roles = digestOf(roleManifests(separateAccounts(functions), ""));
  await grantRights(context, roles);
  const declared: Declared = {
    functions: functions.map(({ name }) => name),
    resources: kinds
      .filter(({ definition }) => definition !== undefined)
      .map(({ plural, group }) => ({ plural, group })),
    crds,
    roles,
    bridge: digestOf([
      // A bridge with new watches: old ones lack new fields for a second, and a correction would be a second reconcile.
      crds,
      kinds.map(({ group, version, plural, scope, reach }) => ({ group, version, plural, scope, reach })),
      subscriptions.map((subscription) => functionConsumers(subscription, busOptions)),
    ]),
  };
  context.log.info(declared, "declared");
  // The bridge makes this stream too, but here it starts after the workers.
  if (subscriptions.some(({ webhooks = [] }) => webhooks.length > 0))
    await ensureWebhooks(context.bus, busOptions);
  const running = await startWorker({ ...context, ...settings, busOptions, functions });
  void allRequested.then(() =>
    requestAll(context).catch((error: unknown) =>
      context.log.error({ err: error }, "failed to request all objects"),
    ),
  );
  return {
    notReady: () => running.notReady?.(),
    async stop() {
      ending.abort();
      await running.stop();
      await admission?.stop();
    },
  };
}

/** Gives functions and bridge exactly the rights that the declarations have now, and follows opt-ins. */
async function grantRights({ client, log }: ProcessContext, roles: string): Promise<void> {
  const { impersonateNamespace: namespace } = settings;
  if (namespace === undefined) return;
  const accounts = { namespace, suffix: process.env[roleSuffixVariable] ?? "" };
  const options = { client, functions, accounts, ownRights };
  if (roles !== process.env[roleDigestVariable]) await applyRoles(options);
  await followOptIns({
    ...options,
    namespaces: settings.namespaces,
    signal: ending.signal,
    onProblem: (error) => log.warn({ err: error }, "failed to opt namespaces in, retrying"),
  });
}

/** The address of the webhook. Throws a {@link UsageError} if the code needs one that the API server cannot reach. */
function webhookOf(text: string | undefined): ConversionWebhook | undefined {
  const needing = kinds.filter(needsWebhook);
  if (needing.length === 0) return undefined;
  if (text !== undefined) return JSON.parse(text) as ConversionWebhook;
  throw new UsageError(
    `${needing.map(({ kind }) => kind).join(", ")}: the API server of an existing cluster cannot call a webhook on this machine, ` +
      "which kinds with several versions or admission hooks need. Unset KUBECONFIG and NATS_URL to use a local platform",
  );
}

/** Starts the webhook for the kinds of this code. */
function startDevAdmission(context: ProcessContext): Promise<Admission> {
  return startAdmission({ ...context, ...readSettings(admissionSettings, {}, process.env), kinds });
}

/** Requests a reconcile of every object by this code. Objects that are in flight follow afterwards. */
async function requestAll({ bus, client }: ProcessContext): Promise<void> {
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

/** The namespaces that the bridge watches; undefined stands for all of them. */
async function namespacesOf(
  { scope, reach }: Kind,
  client: KubeClient,
): Promise<Iterable<string | undefined>> {
  if (scope === "Cluster") return [undefined];
  if (settings.namespaces.length > 0) return settings.namespaces;
  return reach === "opted-in" ? optedInNamespaces(client) : [undefined];
}

async function installKinds(
  { client }: ProcessContext,
  manifests: readonly Record<string, unknown>[],
): Promise<void> {
  try {
    await installCrds(client, manifests, {
      fieldManager: "denrei-cli",
      signal: AbortSignal.timeout(installMillis),
      lostFields: process.env[lostFieldsVariable] === "drop" ? "drop" : "refuse",
    });
  } catch (error) {
    // The replica exits instead of retrying: a new start follows each save.
    if (isForbidden(error)) throw new AbsentError(`${(error as ApiError).answer}. ${forbiddenAdvice}`);
    if (!(error instanceof CrdDowngradeError)) throw error;
    throw new CrdDowngradeError(error.crd, error.lost, lostFieldsAdvice, { cause: error });
  }
}

/** Makes the API server call the hooks of this code, and no others. An existing cluster has none of this project. */
async function installHooks(
  { client }: ProcessContext,
  configurations: readonly Record<string, unknown>[],
): Promise<void> {
  if (process.env[webhookVariable] === undefined) return;
  await syncConfigurations(client, configurations, AbortSignal.timeout(installMillis));
}

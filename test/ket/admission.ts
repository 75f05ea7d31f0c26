/** The webhook of a run, which converts objects of kinds with several versions and runs admission hooks. It runs in this process. */

import { type PreparedAdmission, prepareAdmission } from "@denrei/cli/environment/admission";
import { syncConfigurations } from "@denrei/cli/environment/configurations";
import { kindConfigurations } from "@denrei/cli/generate/webhookconfigurations";
import { type Kind, needsWebhook } from "denrei/kinds";
import type { KubeClient } from "denrei/kubernetes";
import { definedKinds, type ReconcileFunction, startAdmission } from "denrei/runtime";
import { pino } from "pino";
import { Registry } from "prom-client";
import { KetOptionError } from "./optionerror.ts";
import type { KetOptions } from "./options.ts";

/** The webhook before it runs, and its kinds. */
export interface KetAdmission extends PreparedAdmission {
  readonly kinds: readonly Kind[];
}

/**
 * The webhook of the run; undefined if no kind needs one. Throws a {@link KetOptionError} if the API server could not reach it.
 */
export async function admissionOf(
  { cluster = "local", crds = [] }: KetOptions,
  functions: readonly ReconcileFunction[],
): Promise<KetAdmission | undefined> {
  const given = crds.filter((one): one is Kind => typeof one === "object" && "plural" in one);
  const kinds = [...definedKinds(functions), ...given];
  const needing = kinds.filter(needsWebhook);
  if (needing.length === 0) return undefined;
  if (cluster === "local") return { ...(await prepareAdmission()), kinds };
  // Deployed with the functions, and named in the given manifests.
  if (crds.length > given.length) return undefined;
  throw new KetOptionError(
    `${needing.map(({ kind }) => kind).join(", ")}: the API server of the cluster "${cluster}" cannot call a webhook on this ` +
      'machine, which kinds with several versions or admission hooks need. Use the cluster "local", or deploy denrei admission and pass CRDs that name ' +
      "it as manifests (denrei crds, denrei webhook-configurations).",
  );
}

/** Starts the webhook, with its certificate in the folder. Returns the function that stops it. */
export async function startWebhook(
  { kinds, writeSettings }: KetAdmission,
  directory: string,
): Promise<() => Promise<void>> {
  const settings = await writeSettings(directory);
  // The API server returns the reason of a failure to its client, so a log would only repeat it.
  const log = pino({ level: "silent" });
  const running = await startAdmission({ ...settings, kinds, log, registry: new Registry() });
  return () => running.stop();
}

const activeMillis = 60_000;

/** Resolves when the API server calls the hooks of the run's kinds. */
export const installHooks = (client: KubeClient, { kinds, webhook }: KetAdmission): Promise<void> =>
  syncConfigurations(client, kindConfigurations(kinds, webhook), AbortSignal.timeout(activeMillis));

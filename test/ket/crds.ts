/** The CRDs of a run. */
import { fileURLToPath } from "node:url";
import { type ConversionWebhook, crdOf, type Kind } from "denrei/kinds";
import { installCrds, type KubeClient } from "denrei/kubernetes";
import { definedKinds, type ReconcileFunction } from "denrei/runtime";
import { type Manifest, readManifests } from "./manifest.ts";
import type { KetOptions } from "./options.ts";

/** The given CRDs, or else those of the kinds that the functions' authors define. */
export async function crdsOf(
  given: KetOptions["crds"],
  functions: readonly ReconcileFunction[],
  webhook: ConversionWebhook | undefined,
): Promise<Record<string, unknown>[]> {
  if (given !== undefined) return (await Promise.all(given.map((one) => read(one, webhook)))).flat();
  return definedKinds(functions).map((kind) => crdOf(kind, webhook));
}

async function read(
  one: Kind | Manifest | string | URL,
  webhook: ConversionWebhook | undefined,
): Promise<Record<string, unknown>[]> {
  if (one instanceof URL) return readManifests(fileURLToPath(one));
  if (typeof one === "string") return readManifests(one);
  return "plural" in one ? [crdOf(one as Kind, webhook)] : [one as Manifest];
}

/** Installs CRDs; resolves when each is established and served. */
export const install = (client: KubeClient, crds: readonly Record<string, unknown>[]): Promise<void> =>
  installCrds(client, crds, { fieldManager: "denrei-test", signal: AbortSignal.timeout(60_000) });

/** Kinds that a site lists for its charts: the rights for them, and retries until these are in force. */
import { expect } from "vitest";
import type { ObjectName } from "../../bus/kube/client.ts";
import type { KubeObject, Stored } from "../../bus/kube/object.ts";
import { Application } from "../../functions/paas/kinds.ts";
import { runHere } from "../cli/here.ts";
import type { Paas } from "./paas.ts";
import { rightKinds } from "./rights.ts";
import { hastenTimer } from "./timers.ts";

/** For roles and CRDs, which take effect a moment after they are applied. */
export const polling = { timeout: 90_000, interval: 300 };

/** Applies the output of `denrei chart rbac` for the site's list in the cluster. */
export async function applyChartRights({ environment: { client, platform } }: Paas): Promise<void> {
  const env = { KUBECONFIG: platform.kubeconfigPath };
  const { code, stdout } = await runHere(["chart", "rbac", "--json"], { env });
  expect(code).toBe(0);
  for (const object of JSON.parse(stdout).items as (KubeObject & { kind: keyof typeof rightKinds })[])
    await client.apply(rightKinds[object.kind], object, {
      fieldManager: "kubectl",
      force: "take-ownership",
    });
}

/** Triggers retries of an Application until the condition holds. */
export async function untilByRetry(
  paas: Paas,
  at: ObjectName,
  condition: (app: Stored<Application>) => boolean,
): Promise<Stored<Application>> {
  const holds = async () => {
    await hastenTimer(paas, "modoki-application", at);
    return condition(await paas.environment.client.get(Application, at));
  };
  await expect.poll(holds, polling).toBe(true);
  return paas.environment.until(Application, at, condition, polling.timeout);
}

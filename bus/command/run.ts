/** `denrei run` */
import { startBridge } from "../bridge/bridge.ts";
import type { Settings } from "../config/config.ts";
import { startGateway } from "../gateway/gateway.ts";
import { readSecrets } from "../gateway/secrets.ts";
import { startParts } from "../process/parts.ts";
import { type AccountSettings, busOptionsOf, runProcess } from "../process/run.ts";
import { openProject } from "../project/project.ts";
import { bridgeNeeds, gatewayNeeds, needsOf } from "../worker/needs.ts";
import { startWorker } from "../worker/worker.ts";

/**
 * Runs the bridge and the gateway of the project, and the workers of these functions, by default of all, in one process until a
 * stop signal. `webhookSettings` is called if a function of the project has webhooks; otherwise there is no gateway.
 */
export async function run(
  names: readonly string[],
  settings: AccountSettings & Settings<"namespaces" | "watchSeconds">,
  webhookSettings: () => Settings<"webhookAddress" | "webhookPath" | "webhookSecrets">,
): Promise<void> {
  const project = await openProject();
  // Another process may run the other functions: any bridge and any gateway serve them.
  const all = await project.all();
  const functions = names.length === 0 ? all : await project.load(names);
  const received = all.some(({ webhooks }) => webhooks.length > 0) ? webhookSettings() : undefined;
  if (received !== undefined) await readSecrets(received.webhookSecrets);
  const needs = needsOf(all);
  const busOptions = busOptionsOf(settings, project);
  await runProcess("run", settings, async (context) => {
    const shared = { ...context, ...settings, busOptions };
    const running = await startParts(
      {
        bridge: () => startBridge({ ...shared, ...bridgeNeeds(needs, settings.cluster) }),
        workers: () => startWorker({ ...shared, functions }),
        gateway: received && (() => startGateway({ ...shared, ...received, ...gatewayNeeds(needs) })),
      },
      context.waitFor,
    );
    context.log.info({ gateway: received !== undefined }, "run ready");
    return running;
  });
}

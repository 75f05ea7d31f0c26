/** `denrei gateway` */

import type { Settings } from "../../bus/config/config.ts";
import { startGateway } from "../../bus/gateway/gateway.ts";
import { readSecrets } from "../../bus/gateway/secrets.ts";
import { type BusProcessSettings, busOptionsOf, runBusProcess } from "../../bus/process/run.ts";
import type { ReconcileFunction } from "../../bus/worker/function.ts";

/**
 * Runs the gateway of these functions until a stop signal. Throws a `ConfigError` if there are no secrets, before it connects to the
 * bus.
 */
export async function gateway(
  settings: BusProcessSettings & Settings<"webhookAddress" | "webhookPath" | "webhookSecrets">,
  functions: readonly ReconcileFunction[],
): Promise<void> {
  await readSecrets(settings.webhookSecrets);
  await runBusProcess("gateway", settings, (context) =>
    startGateway({ ...context, ...settings, functions, busOptions: busOptionsOf(settings) }),
  );
}

/** `denrei gateway` */

import type { Settings } from "../../bus/config/config.ts";
import { startGateway } from "../../bus/gateway/gateway.ts";
import { readSecrets } from "../../bus/gateway/secrets.ts";
import { type BusProcessSettings, busOptionsOf, runBusProcess } from "../../bus/process/run.ts";

/** Runs the gateway until a stop signal. Throws a `ConfigError` if there are no secrets, before it connects to the bus. */
export async function gateway(
  settings: BusProcessSettings & Settings<"webhookAddress" | "webhookPath" | "webhookSecrets">,
): Promise<void> {
  await readSecrets(settings.webhookSecrets);
  const { functions } = await import("../../functions/index.ts");
  await runBusProcess("gateway", settings, (context) =>
    startGateway({ ...context, ...settings, functions, busOptions: busOptionsOf(settings) }),
  );
}

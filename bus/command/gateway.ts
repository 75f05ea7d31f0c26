/** `denrei gateway` */
import type { Settings } from "../config/config.ts";
import { startGateway } from "../gateway/gateway.ts";
import { readSecrets } from "../gateway/secrets.ts";
import { type BusProcessSettings, busOptionsOf, runBusProcess } from "../process/run.ts";

/** Runs the gateway until a stop signal. Throws a `ConfigError` if there are no secrets, before it connects to the bus. */
export async function gateway(
  settings: BusProcessSettings & Settings<"webhookAddress" | "webhookPath" | "webhookSecrets">,
): Promise<void> {
  await readSecrets(settings.webhookSecrets);
  await runBusProcess("gateway", settings, (context) =>
    startGateway({ ...context, ...settings, busOptions: busOptionsOf(settings) }),
  );
}

/** `denrei gateway` */
import { startGateway } from "../../bus/gateway/gateway.ts";
import type { Settings } from "../../bus/process/config.ts";
import { type BusProcessSettings, busOptionsOf, runBusProcess } from "../../bus/process/run.ts";

/** Runs the gateway until it is told to stop. */
export const gateway = (
  settings: BusProcessSettings & Settings<"webhookAddress" | "webhookPath" | "webhookSecrets">,
): Promise<void> =>
  runBusProcess("gateway", settings, (context) =>
    startGateway({ ...context, ...settings, busOptions: busOptionsOf(settings) }),
  );

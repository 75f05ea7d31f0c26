/** `denrei gateway` */
import type { Settings } from "../config/config.ts";
import { startGateway } from "../gateway/gateway.ts";
import { readSecrets } from "../gateway/secrets.ts";
import { type BusProcessSettings, busOptionsOf, runBusProcess } from "../process/run.ts";
import { needsOfProject } from "../project/needs.ts";
import { openProject } from "../project/project.ts";
import type { ReconcileFunction } from "../worker/function.ts";
import { gatewayNeeds, needsOf } from "../worker/needs.ts";

/**
 * Runs the gateway of these functions, by default those of the project, until a stop signal. Throws a `ConfigError` if there are no
 * secrets, before it connects to the bus.
 */
export async function gateway(
  settings: BusProcessSettings & Settings<"webhookAddress" | "webhookPath" | "webhookSecrets">,
  of?: readonly ReconcileFunction[],
): Promise<void> {
  await readSecrets(settings.webhookSecrets);
  const project = of === undefined ? await openProject() : undefined;
  const needs = project === undefined ? needsOf(of ?? []) : await needsOfProject(project, "providers");
  await runBusProcess("gateway", settings, (context) =>
    startGateway({
      ...context,
      ...settings,
      ...gatewayNeeds(needs),
      busOptions: busOptionsOf(settings, project),
    }),
  );
}

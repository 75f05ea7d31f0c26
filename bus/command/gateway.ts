/** `denrei gateway` */
import type { Settings } from "../config/config.ts";
import { startGateway } from "../gateway/gateway.ts";
import { readSecrets } from "../gateway/secrets.ts";
import { type BusProcessSettings, busOptionsOf, runBusProcess } from "../process/run.ts";
import { needsOfProject } from "../project/needs.ts";
import { openProject, type Project } from "../project/project.ts";
import type { ReconcileFunction } from "../worker/function.ts";

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
  const functions = of ?? (project ? await receivers(project) : []);
  await runBusProcess("gateway", settings, (context) =>
    startGateway({ ...context, ...settings, functions, busOptions: busOptionsOf(settings, project) }),
  );
}

/** The functions of the project that receive webhooks. */
async function receivers(project: Project): Promise<readonly ReconcileFunction[]> {
  const needs = await needsOfProject(project);
  return project.load(needs.filter(({ webhooks }) => webhooks.length > 0).map(({ name }) => name));
}

/** `denrei bridge` */
import { startBridge } from "../bridge/bridge.ts";
import type { Settings } from "../config/config.ts";
import { type AccountSettings, busOptionsOf, runProcess } from "../process/run.ts";
import { needsOfProject } from "../project/needs.ts";
import { openProject } from "../project/project.ts";
import { bridgeNeeds } from "../worker/needs.ts";

/** Runs the bridge until a stop signal. */
export async function bridge(
  settings: AccountSettings & Settings<"namespaces" | "watchSeconds">,
): Promise<void> {
  const project = await openProject();
  const needs = bridgeNeeds(await needsOfProject(project, "lists"), settings.cluster);
  return runProcess("bridge", settings, (context) =>
    startBridge({ ...context, ...settings, ...needs, busOptions: busOptionsOf(settings, project) }),
  );
}

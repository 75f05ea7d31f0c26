/** The processes of the platform for some functions, instead of for those of a project. */
import {
  accountSettings,
  bridgeNeeds,
  busOptionsOf,
  busProcessSettings,
  gateway,
  needsOf,
  readSettings,
  runProcess,
  startBridge,
  startWorker,
} from "denrei/runtime";
import { loadFunctions } from "./functions.ts";

/** Runs `bridge`, `worker`, or `gateway` until it is stopped. Further arguments are names of the project's functions, and paths of modules. */
export async function runFunctions([role, ...paths]: readonly string[]): Promise<void> {
  const settings = readSettings([...accountSettings, "namespaces", "watchSeconds"], {}, process.env);
  const functions = await loadFunctions(paths);
  const busOptions = busOptionsOf(settings);
  if (role === "bridge") {
    const needs = bridgeNeeds(needsOf(functions), settings.cluster);
    await runProcess("bridge", settings, (context) =>
      startBridge({ ...context, ...settings, ...needs, busOptions }),
    );
  } else if (role === "gateway") {
    const needed = [...busProcessSettings, "webhookAddress", "webhookPath", "webhookSecrets"] as const;
    await gateway(readSettings(needed, {}, process.env), functions);
  } else {
    await runProcess("worker", settings, (context) =>
      startWorker({ ...context, ...settings, busOptions, functions }),
    );
  }
}

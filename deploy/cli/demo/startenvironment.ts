/** Starting the environment of `demo` and `up`. */
import { connectCluster, type KubeClient } from "denrei/kubernetes";
import { openEnvironment } from "../../environment/environment.ts";
import { removeRoles } from "../../environment/roles.ts";
import type { DemoEnvironment, DemoEnvironmentOptions } from "./environment.ts";
import { startParts } from "./parts.ts";
import { environmentOptions, localAdmission } from "./platform.ts";

/** Starts everything; resolves when it is ready. */
export async function startDemoEnvironment(options: DemoEnvironmentOptions): Promise<DemoEnvironment> {
  const { display } = options;
  const ended = new AbortController();
  const signal = AbortSignal.any([options.signal, ended.signal]);
  const admission = await localAdmission();
  const environment = await openEnvironment(await environmentOptions(options, signal, admission?.webhook));
  let client: KubeClient | undefined;
  async function stop(): Promise<void> {
    ended.abort(new Error("the environment was stopped"));
    await environment.processes.stop();
    const { origin, accounts } = environment;
    if (client && accounts && origin === "existing") await removeRoles({ client, accounts });
    await client?.connection.close();
  }
  try {
    signal.throwIfAborted();
    client = await connectCluster({ path: environment.kubeconfigPath });
    const parts = await startParts(client, environment, { ...options, signal }, admission);
    return { client, ...parts, stop };
  } catch (error) {
    await stop();
    throw error;
  } finally {
    display.done();
  }
}

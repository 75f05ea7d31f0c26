/** The processes of a demo environment, and their rights. */
import { redacted } from "denrei";
import type { KubeClient } from "denrei/kubernetes";
import { readSettings } from "denrei/runtime";
import { type PreparedAdmission, startLocalAdmission } from "../../environment/admission.ts";
import { startDashboard } from "../../environment/dashboard.ts";
import { type Environment, suffixOf } from "../../environment/environment.ts";
import { prepareGateways } from "../../environment/gateways.ts";
import { followOptIns } from "../../environment/optins.ts";
import { count, timedStart } from "../../environment/progress.ts";
import { startReplicas } from "../../environment/replicas.ts";
import { applyRoles, ownRights } from "../../environment/roles.ts";
import { allFunctions } from "../named.ts";
import type { DemoEnvironment, DemoEnvironmentOptions } from "./environment.ts";
import { installHooks, installKinds, replicaEnv } from "./platform.ts";

/** Starts replicas, gateways, and the dashboard; resolves when all are ready. */
export async function startParts(
  client: KubeClient,
  environment: Environment,
  { parts, display, say, signal }: DemoEnvironmentOptions,
  admission: PreparedAdmission | undefined,
): Promise<Omit<DemoEnvironment, "client" | "stop">> {
  const { origin, kubeconfigPath, natsUrl, dashboard, podLogsPath } = environment;
  if (origin === "existing") {
    say(`Using the cluster at ${client.connection.server} and the bus at ${redacted(natsUrl)}:`);
    await installKinds(client, display, signal);
  }
  await grantRights(client, environment, { say, signal });
  const { workers, onLine, before } = parts;
  const { directory, spawn } = environment.processes;
  const gateways = await prepareGateways(parts.gateways, directory, parts.providers);
  const { hooks } = gateways;
  const [hook] = hooks;
  const id = suffixOf(directory).slice(1).toLowerCase();
  const added = await before?.({
    ...{ origin, id, kubeconfigPath, spawn, directory, hook, dashboard, display, signal },
  });
  const env = { ...environment.env, ...replicaEnv, ...added };
  const replicaOptions = { ...environment, env, onLine, say, signal };
  const webhooks = admission === undefined ? [] : [await startLocalAdmission(admission, replicaOptions)];
  if (admission) await installHooks(client, admission, signal);
  const [replicas, receivers, fronts] = await Promise.all([
    timedStart(display, `${count(workers, "worker")}, 1 bridge`, startReplicas(parts, replicaOptions)),
    parts.gateways === 0
      ? []
      : timedStart(display, count(parts.gateways, "gateway"), gateways.start(replicaOptions)),
    dashboard === undefined
      ? []
      : timedStart(display, "dashboard", startDashboard(dashboard, replicaOptions, display)).then((child) => [
          child,
        ]),
  ]);
  return {
    ...{ origin, kubeconfigPath, natsUrl, podLogsPath, directory, id, hooks, dashboard, spawn },
    replicas: [...replicas, ...receivers, ...fronts, ...webhooks],
  };
}

/** Creates the roles of all functions and of the bridge, and follows opt-ins. */
async function grantRights(
  client: KubeClient,
  environment: Environment,
  { say, signal }: Pick<DemoEnvironmentOptions, "say" | "signal">,
): Promise<void> {
  const { accounts } = environment;
  if (accounts === undefined) return;
  const roles = { client, functions: await allFunctions(), accounts, ownRights };
  await applyRoles(roles);
  const onProblem = ({ message }: Error) => say(`Failed to opt namespaces in, retrying: ${message}`);
  const { namespaces } = readSettings(["namespaces"], {}, { ...process.env, ...environment.env });
  await followOptIns({ ...roles, namespaces, signal, onProblem });
}

/** The dashboard of `denrei dev`. It does not reload: its page and its functions are those at its start. */
import { connectCluster } from "denrei/kubernetes";
import { UsageError } from "denrei/runtime";
import { missingIssuer, type RunningDashboard, startDashboard } from "../../environment/dashboard.ts";
import type { Environment } from "../../environment/environment.ts";
import type { ProgressDisplay } from "../../environment/progress.ts";

/** A running dashboard. */
export interface DevDashboard extends RunningDashboard {
  /** The namespace in which its users have roles. */
  readonly namespace: string;
}

/** How to start it. */
export interface DevDashboardOptions {
  readonly environment: Environment;
  readonly display: ProgressDisplay;
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

/** The default namespace of a local platform's kubeconfig. */
const namespace = "default";

/** Throws a `UsageError` if users could not log in: without the simulator, or without an issuer for an existing cluster. */
export function checkIssuer(): void {
  const missing = missingIssuer();
  if (missing !== undefined) throw new UsageError(`--dashboard needs a login: ${missing}`);
}

/** Starts the dashboard if one was prepared. On a local platform its users get their roles. Throws what `startDashboard` throws. */
export async function openDashboard({
  environment,
  display,
  ...options
}: DevDashboardOptions): Promise<DevDashboard | undefined> {
  const { dashboard, kubeconfigPath } = environment;
  if (dashboard === undefined) return undefined;
  if (kubeconfigPath !== undefined) {
    // Loaded late: it loads all functions, whose code may have been broken until now.
    const { grantRoles } = await import("../../environment/grants.ts");
    const client = await connectCluster({ path: kubeconfigPath });
    await grantRoles(client, dashboard.users, namespace).finally(() => client.connection.close());
  }
  const env = { ...environment.env, DENREI_HTTP_ADDRESS: undefined, DENREI_LOG_LEVEL: undefined };
  await startDashboard(dashboard, { ...environment, env, ...options }, display);
  return { url: dashboard.url, users: dashboard.users, namespace };
}

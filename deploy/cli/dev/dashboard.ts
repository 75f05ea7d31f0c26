/** The dashboard of `denrei dev`, in front of what its functions run on. Its page and its functions are those of its start. */
import { connectCluster } from "../../../bus/process/cluster.ts";
import {
  type DashboardFront,
  type DashboardPlan,
  hasIssuer,
  issuerVariables,
  startDashboard,
} from "../demo/dashboards.ts";
import { programOf } from "../demo/played.ts";
import { loginPart } from "../demo/playedlogin.ts";
import type { ProgressDisplay } from "../demo/progress.ts";
import { ownCluster } from "../foreign.ts";
import { UsageError } from "../usage.ts";
import type { Ground } from "./ground.ts";

/** A dashboard that runs. */
export interface DevDashboard extends DashboardFront {
  /** Where its people have their roles. */
  readonly namespace: string;
}

/** What it is opened with. */
export interface DevDashboardOptions {
  readonly ground: Ground;
  readonly display: ProgressDisplay;
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

/** That of a local platform's kubeconfig. */
const namespace = "default";

/** How people are to log in. Throws a `UsageError` where they can not: without a program, or without an issuer of one's own cluster. */
export function planDashboard(login: string | undefined): DashboardPlan {
  const part = loginPart("npm run dev -- --dashboard");
  if (ownCluster() === undefined) return { part, program: programOf(part, login) };
  if (hasIssuer()) return { part, program: undefined };
  throw new UsageError(
    `expected ${issuerVariables.join(" and ")} beside KUBECONFIG and NATS_URL for --dashboard, found none: ` +
      "people log in at an issuer that your API server trusts. How it is done: docs/dashboard.md",
  );
}

/** Starts it, if the ground has one. On a local platform its people get their roles. Throws what `startDashboard` throws. */
export async function openDashboard({
  ground,
  display,
  ...told
}: DevDashboardOptions): Promise<DevDashboard | undefined> {
  const { dashboard, processes, natsUrl, suffix, kubeconfigPath } = ground;
  if (dashboard === undefined) return undefined;
  if (kubeconfigPath !== undefined) {
    // It loads all functions of this project, which may have been broken until now.
    const { grantPeople } = await import("../demo/grants.ts");
    const client = await connectCluster({ path: kubeconfigPath });
    await grantPeople(client, dashboard.people, namespace).finally(() => client.connection.close());
  }
  const env = { ...ground.env, DENREI_HTTP_ADDRESS: undefined, DENREI_LOG_LEVEL: undefined };
  await startDashboard(dashboard, { processes, suffix, env, natsUrlFor: () => natsUrl, ...told }, display);
  return { url: dashboard.url, people: dashboard.people, namespace };
}

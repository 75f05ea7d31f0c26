/** `denrei dashboard` */
import { startDashboard } from "@denrei/dashboard/server/server";
import { allowedUrlsIn } from "denrei/github";
import {
  busOptionsOf,
  ConfigError,
  type dashboardSettings,
  type ReconcileFunction,
  runBusProcess,
  type Settings,
} from "denrei/runtime";
import { builtPage } from "../environment/page.ts";
import { allFunctions } from "./named.ts";

type DashboardSettings = Settings<(typeof dashboardSettings)[number]>;

/** Runs the dashboard of these functions, by default those of the project, until a stop signal. In a checkout, builds the page first if it is missing or out of date. */
export async function dashboard(
  settings: DashboardSettings,
  of?: readonly ReconcileFunction[],
): Promise<void> {
  const functions = of ?? (await allFunctions());
  const page = await builtPage({ onBuild: () => console.error("denrei: building the dashboard page") });
  await runBusProcess("dashboard", settings, async ({ bus, log, registry }) =>
    startDashboard({
      bus,
      busOptions: busOptionsOf(settings),
      cluster: settings.cluster,
      functions,
      address: settings.dashboardAddress,
      url: settings.dashboardUrl,
      kubeconfig: { path: settings.kubeconfig, context: settings.context },
      issuer: {
        issuer: settings.oidcIssuer,
        clientId: settings.oidcClientId,
        clientSecret: settings.oidcClientSecret,
        scopes: settings.oidcScopes,
        ca: settings.oidcCa,
      },
      github: githubOf(settings),
      githubUrls: [settings.githubUrl, ...allowedUrlsIn(process.env)],
      keys: settings.dashboardKeys,
      page,
      log,
      registry,
    }),
  );
}

/** The GitHub App, or undefined if neither setting is present. Throws a `ConfigError` if only one is. */
function githubOf({
  githubUrl: url,
  githubClientId: clientId,
  githubClientSecret: clientSecret,
}: Settings<"githubUrl" | "githubClientId" | "githubClientSecret">) {
  if (clientId !== undefined && clientSecret !== undefined) return { url, clientId, clientSecret };
  if (clientId === undefined && clientSecret === undefined) return undefined;
  const missing = clientId === undefined ? "--github-client-id" : "--github-client-secret";
  throw new ConfigError(
    `${missing} is missing: set both --github-client-id and --github-client-secret, or neither`,
  );
}

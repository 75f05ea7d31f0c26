/** `denrei dashboard` */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Settings } from "../../bus/process/config.ts";
import { busOptionsOf, type ProcessSettings, runBusProcess } from "../../bus/process/run.ts";
import { startDashboard } from "../../dashboard/server/server.ts";
import { AbsentError } from "./usage.ts";

const page = fileURLToPath(new URL("../../dashboard/web/dist", import.meta.url));

/** Runs the dashboard until it is told to stop. */
export async function dashboard(
  settings: ProcessSettings &
    Settings<
      | "dashboardAddress"
      | "dashboardUrl"
      | "dashboardKeys"
      | "oidcIssuer"
      | "oidcClientId"
      | "oidcClientSecret"
      | "oidcScopes"
      | "oidcCa"
    >,
): Promise<void> {
  if (!existsSync(page)) {
    throw new AbsentError(`expected the built page in ${page}, found none. Build it: npm run page`);
  }
  await runBusProcess("dashboard", settings, async ({ bus, log }) =>
    startDashboard({
      bus,
      busOptions: busOptionsOf(settings),
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
      keys: settings.dashboardKeys,
      page,
      log,
    }),
  );
}

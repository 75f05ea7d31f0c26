/** The demo `song`, and `denrei up`, which also has a dashboard. */
import { say } from "denrei/runtime";
import { missingIssuer } from "../../environment/dashboard.ts";
import { grantRoles } from "../../environment/grants.ts";
import { count } from "../../environment/progress.ts";
import type { Demo, DemoOptions } from "./definition.ts";
import { guide } from "./guide.ts";
import { printSong } from "./songsteps.ts";

export function songDemo(options: DemoOptions): Demo {
  const { mode, workers = 3 } = options;
  const { dashboard, notice } = planDashboard(options);
  return {
    parts: { workers, functions: ["all"], gateways: 0, dashboard },
    async run(environment, _display, signal) {
      const { client, origin } = environment;
      if (environment.dashboard && origin === "local")
        await grantRoles(client, environment.dashboard.users, client.connection.namespace);
      if (mode === "up") {
        say(guide(environment));
        if (notice !== undefined) say(notice);
      }
      say(`\nHikawa sings on ${count(workers, "replica")}:\n`);
      await printSong(environment, { mode, signal });
    },
  };
}

/** Whether there will be a dashboard, and why `denrei up` has none. */
export function planDashboard({ mode, dashboard }: DemoOptions): {
  readonly dashboard: boolean;
  readonly notice?: string;
} {
  if (mode !== "up" || dashboard === false) return { dashboard: false };
  const missing = missingIssuer();
  return missing === undefined
    ? { dashboard: true }
    : { dashboard: false, notice: `No dashboard: ${missing}.` };
}

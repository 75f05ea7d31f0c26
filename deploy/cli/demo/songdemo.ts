/** The demo `song`, and what `denrei up` shows: the sample sings. `up` has a dashboard in front. */
import { ownCluster } from "../foreign.ts";
import { say } from "../output.ts";
import type { Act, DemoOptions } from "./act.ts";
import { type DashboardPlan, hasIssuer, noDashboard } from "./dashboards.ts";
import { grantPeople } from "./grants.ts";
import { guide } from "./guide.ts";
import { programOf } from "./played.ts";
import { loginPart } from "./playedlogin.ts";
import { sing } from "./sing.ts";
import { count } from "./stage.ts";

const command = "npm start";

/** The act. Throws a `UsageError` where the program that is to play the login is none. */
export function songAct(options: DemoOptions): Act {
  const { mode, workers = 3 } = options;
  const { plan, notice } = dashboardOf(options);
  return {
    cast: { workers, functions: ["all"], gateways: 0, dashboard: plan },
    async play(stage, _display, signal) {
      const { client, origin } = stage;
      if (stage.dashboard && origin === "local")
        await grantPeople(client, stage.dashboard.people, client.connection.namespace);
      if (mode === "up") {
        say(guide(stage));
        if (notice !== undefined) say(notice);
      }
      say(`\nHikawa sings on ${count(workers, "replica")}:\n`);
      await sing(stage, { mode, signal });
    },
  };
}

/** The plan for the dashboard of `denrei up`, or the notice that there is no dashboard. `--no-dashboard` and `demo` have neither. */
export function dashboardOf({ mode, dashboard, login }: DemoOptions): {
  readonly plan?: DashboardPlan;
  readonly notice?: string;
} {
  if (mode !== "up" || dashboard === false) return {};
  const part = loginPart(command);
  if (ownCluster() && hasIssuer()) return { plan: { part, program: undefined } };
  if (ownCluster() || login === undefined) return { notice: noDashboard(command) };
  return { plan: { part, program: programOf(part, login) } };
}

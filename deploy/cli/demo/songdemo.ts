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
  const dashboard = mode === "up" && options.dashboard !== false ? planned(options) : undefined;
  return {
    cast: { workers, functions: ["all"], gateways: 0, dashboard },
    async play(stage, _display, signal) {
      const { client, origin } = stage;
      if (stage.dashboard && origin === "local")
        await grantPeople(client, stage.dashboard.people, client.connection.namespace);
      if (mode === "up") {
        say(guide(stage));
        if (dashboard === undefined && options.dashboard !== false) say(noDashboard(command));
      }
      say(`\nHikawa sings on ${count(workers, "replica")}:\n`);
      await sing(stage, { mode, signal });
    },
  };
}

/** What the dashboard is to be started with; undefined where there can be none. */
function planned({ login }: DemoOptions): DashboardPlan | undefined {
  const part = loginPart(command);
  if (ownCluster()) return hasIssuer() ? { part, program: undefined } : undefined;
  return login === undefined ? undefined : { part, program: programOf(part, login) };
}

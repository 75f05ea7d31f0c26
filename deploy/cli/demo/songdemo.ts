/** The demo `song`, and `denrei up`, which also has a dashboard. */
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { say } from "denrei/runtime";
import { missingIssuer } from "../../environment/dashboard.ts";
import { grantRoles } from "../../environment/grants.ts";
import { count } from "../../environment/progress.ts";
import { repository } from "../layout.ts";
import { quoted } from "../quoted.ts";
import type { Demo, DemoOptions } from "./definition.ts";
import { guide, programIn } from "./guide.ts";
import { shortSongVariables } from "./shortsong.ts";
import { printSong, sampleFile, summarizeSongs } from "./songsteps.ts";

export function songDemo(options: DemoOptions): Demo {
  const { mode, workers = 3 } = options;
  const { dashboard, notice } = planDashboard(options);
  return {
    parts: {
      workers,
      functions: ["all"],
      gateways: 0,
      dashboard,
      ...(mode === "demo" && { before: async () => shortSongVariables() }),
    },
    async run(environment, _display, signal) {
      const { client, origin } = environment;
      if (environment.dashboard && origin === "local")
        await grantRoles(client, environment.dashboard.users, client.connection.namespace);
      if (mode === "demo") {
        say(`\nHikawa sings on ${count(workers, "replica")}:\n`);
        await printSong(environment, signal);
        if (!signal.aborted) say("\nnpm start (denrei up) keeps such a platform running, with a dashboard.");
        return;
      }
      await summarizeSongs(environment, {
        signal,
        onSample(name) {
          say(`\nThe Hikawa ${name} sings on ${count(workers, "replica")}.`);
          if (notice !== undefined) say(notice);
          say(`${guide(environment, songCommands())}\n`);
        },
      });
    },
  };
}

const songCommands = (): string[] => [
  "To show the objects and the queues, and to start another song:",
  "    kubectl get hikawas,zundokos,kiyoshis",
  `    ${programIn(repository)} status`,
  `    kubectl replace --force -f ${quoted(relative(process.cwd(), fileURLToPath(sampleFile)))}`,
];

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

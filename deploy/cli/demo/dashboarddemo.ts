/** The demo `dashboard`: all that there is, to be looked at in a browser. */
import { once } from "node:events";
import { say } from "../output.ts";
import { UsageError } from "../usage.ts";
import type { Act, DemoOptions } from "./act.ts";
import { checkConnection, checkDashboard } from "./dashboardcheck.ts";
import { guideToDashboard } from "./dashboards.ts";
import { healthyName, setScene } from "./dashboardscene.ts";
import { grantPeople } from "./grants.ts";
import { inNamespace } from "./namespace.ts";
import { photograph, photographerPart } from "./photographer.ts";
import { programOf, refuseOwnCluster, startPlayedInCluster } from "./played.ts";
import { connectionOf, githubPart, type PlayedGitHub, startPlayedGitHub } from "./playedgithub.ts";
import { kpackPart } from "./playedkpack.ts";
import { loginPart } from "./playedlogin.ts";
import { addressesOf, pipecdPart } from "./playedpipecd.ts";
import { writePodLogs } from "./podlogs.ts";
import { Records } from "./records.ts";
import type { Stage } from "./stage.ts";
import { storyteller } from "./story.ts";
import { timed } from "./timed.ts";

const command = "npm run demo -- dashboard";
const tokenSeconds = 3600;
const repository = "acme/web";
const namespace = "denrei-demo";

const whatToLookAt = ({ login }: PlayedGitHub): readonly string[] => [
  "Applications: shop is well and has run two images, greedy can not be, and the others are previews of pull requests.",
  "The pipeline web makes them; PipeCD comes up; a Hikawa sings; and one that was given up is a dead letter.",
  "Log in as both, in two windows: what is a button for one of them is refused to the other, by the API server itself.",
  `Create an Installation for GitHub, which is played: connect it, authorize as ${login}, and choose the GitHubApp app and ${repository}.`,
  "Pods are not really run, and images not really built: kwok and stand-ins say that they are.",
];

/** The act. Throws a `UsageError` without the programs that play what is around, and in somebody's own cluster. */
export function dashboardAct(options: DemoOptions): Act {
  const parts = {
    login: loginPart(command),
    github: githubPart(command),
    kpack: kpackPart(command),
    pipecd: pipecdPart(command),
    photographer: photographerPart(command),
  };
  const [login, github, kpack, pipecd] = [
    programOf(parts.login, options.login),
    programOf(parts.github, options.github),
    programOf(parts.kpack, options.kpack),
    programOf(parts.pipecd, options.pipecd),
  ];
  const camera = options.screenshots && programOf(parts.photographer, options.photographer);
  refuseOwnCluster("the demo dashboard", "shows", "docs/dashboard.md");
  if (options.dashboard === false)
    throw new UsageError("expected the demo dashboard to have one, found --no-dashboard");
  const records = new Records();
  const ended = new AbortController();
  const onEnd = (error: Error) => ended.abort(error);
  let onGitHub: PlayedGitHub | undefined;
  return {
    cast: {
      workers: options.workers ?? 3,
      functions: ["all"],
      gateways: 2,
      nodes: 1,
      onLine: records.add,
      dashboard: { part: parts.login, program: login },
      async before({ display, signal, dashboard, ...backstage }) {
        const common = { onEnd, signal };
        const [played, there] = await Promise.all([
          timed(
            display,
            "emulated GitHub",
            startPlayedGitHub(backstage, {
              ...common,
              part: parts.github,
              program: github,
              repository,
              tokenSeconds,
              dashboardUrl: dashboard?.url,
            }),
          ),
          timed(
            display,
            "PipeCD stand-in",
            startPlayedInCluster(backstage, parts.pipecd, { ...common, program: pipecd }),
          ),
        ]);
        onGitHub = played;
        return { ...addressesOf(there), ...(await connectionOf(played, backstage.directory)) };
      },
    },
    async play(stage, display, stopped) {
      const signal = AbortSignal.any([stopped, ended.signal]);
      const { dashboard: front } = stage;
      const played = onGitHub;
      if (front === undefined || played === undefined)
        throw new Error("expected a dashboard in front and a GitHub that was started, found none");
      await timed(
        display,
        "kpack stand-in",
        startPlayedInCluster(stage, parts.kpack, { program: kpack, onEnd, signal }),
      );
      display.done();
      say(["", ...guideToDashboard(front, namespace), "", ...whatToLookAt(played), ""].join("\n"));
      await inNamespace(stage, namespace, async () => {
        await grantPeople(stage.client, front.people, namespace);
        const play = { stage, namespace, github: played, records, signal };
        const step = storyteller(stage);
        // The file goes with the platform, and with it whoever writes there.
        if (stage.podLogsPath) void writePodLogs(stage.podLogsPath, signal).catch(() => undefined);
        await setScene(play, step);
        await checkDashboard(play, front, healthyName, step);
        await checkConnection(play, front, step);
        if (camera !== undefined && camera !== "" && options.screenshots !== undefined) {
          const part = parts.photographer;
          const pictures = await photograph(play, front, {
            part,
            program: camera,
            folder: options.screenshots,
          });
          step("demo", `took ${pictures.length} pictures: ${pictures.join(", ")}`);
        } else if (process.stdout.isTTY) await untilStopped(stage, signal);
      });
    },
  };
}

/** Stays until Ctrl-C, or until something ends without which there is nothing to be seen. */
async function untilStopped({ dashboard, directory }: Stage, signal: AbortSignal): Promise<void> {
  say(`\nThe dashboard stays at ${dashboard?.url} until Ctrl-C. Logs are in ${directory}/logs.`);
  if (!signal.aborted) await once(signal, "abort");
  throw signal.reason;
}

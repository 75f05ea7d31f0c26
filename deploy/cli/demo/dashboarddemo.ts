/** The demo `dashboard`: all systems at once, to look at in a browser. */
import { once } from "node:events";
import { say, UsageError } from "denrei/runtime";
import { guideToDashboard } from "../../environment/dashboard.ts";
import { grantRoles } from "../../environment/grants.ts";
import { type ProgressDisplay, timed } from "../../environment/progress.ts";
import {
  connectionOf,
  githubSimulator,
  type SimulatedGitHub,
  startGitHub,
} from "../../environment/simulators/github.ts";
import { kpackSimulator } from "../../environment/simulators/kpack.ts";
import { loginSimulator } from "../../environment/simulators/login.ts";
import { addressesOf, pipecdSimulator } from "../../environment/simulators/pipecd.ts";
import {
  refuseExistingCluster,
  requireSimulators,
  startInCluster,
} from "../../environment/simulators/start.ts";
import { checkConnection, checkDashboard } from "./dashboardcheck.ts";
import { createExamples, healthyName } from "./dashboardexamples.ts";
import type { Demo, DemoOptions } from "./definition.ts";
import type { DemoEnvironment, Preparation } from "./environment.ts";
import { inNamespace } from "./namespace.ts";
import { writePodLogs } from "./podlogs.ts";
import { Records } from "./records.ts";
import { stepPrinter } from "./steps.ts";

const tokenSeconds = 3600;
const repository = "acme/web";
const namespace = "denrei-demo";

const instructions = ({ login }: SimulatedGitHub): readonly string[] => [
  "Applications: shop is ready and has run two images, greedy cannot start, and the others are previews of pull requests.",
  "The pipeline web creates the previews; PipeCD starts; a Hikawa sings; and one request is a dead letter.",
  "Log in as both users, in two windows: the API server rejects changes by one of them that the other may make.",
  `Create an Installation for the simulated GitHub: connect it, authorize as ${login}, and choose the GitHubApp app and ${repository}.`,
  "Or create a GitHub App of your own, without an address of the gateways: the organization is acme, and you can confirm and install the App.",
  "No pod runs and no image is built: kwok and the simulators report that they do.",
];

/** Throws a `UsageError` if a simulator is not installed, for an existing cluster, and for `--no-dashboard`. */
export function dashboardDemo(options: DemoOptions): Demo {
  requireSimulators(loginSimulator, githubSimulator, kpackSimulator, pipecdSimulator);
  refuseExistingCluster("the demo dashboard", "docs/dashboard.md");
  if (options.dashboard === false) throw new UsageError("the demo dashboard cannot run with --no-dashboard");
  const records = new Records();
  const ended = new AbortController();
  const onEnd = (error: Error) => ended.abort(error);
  let github: SimulatedGitHub | undefined;
  return {
    parts: {
      workers: options.workers ?? 3,
      functions: ["all"],
      gateways: 2,
      nodes: 1,
      onLine: records.add,
      dashboard: true,
      async before(preparation) {
        const started = await startServices(preparation, onEnd);
        github = started.github;
        return started.env;
      },
    },
    async run(environment, display, stopped) {
      const signal = AbortSignal.any([stopped, ended.signal]);
      if (github === undefined) throw new Error("the GitHub simulator was not started");
      const kpack = startInCluster(environment, kpackSimulator, { onEnd, signal });
      await timed(display, "kpack simulator", kpack);
      await show(environment, display, { github, records, signal }, options);
    },
  };
}

async function startServices(
  { display, signal, dashboard, ...preparation }: Preparation,
  onEnd: (error: Error) => void,
) {
  const options = { onEnd, signal };
  const dashboardUrl = dashboard?.url;
  const [github, pipecd] = await Promise.all([
    timed(
      display,
      "GitHub simulator",
      startGitHub(preparation, { ...options, repository, tokenSeconds, dashboardUrl }),
    ),
    timed(display, "PipeCD simulator", startInCluster(preparation, pipecdSimulator, options)),
  ]);
  const env = { ...addressesOf(pipecd), ...(await connectionOf(github, preparation.directory)) };
  return { github, env };
}

async function show(
  environment: DemoEnvironment,
  display: ProgressDisplay,
  running: { readonly github: SimulatedGitHub; readonly records: Records; readonly signal: AbortSignal },
  { onShown }: DemoOptions,
): Promise<void> {
  const { dashboard, client, podLogsPath } = environment;
  const { github, signal } = running;
  if (dashboard === undefined) throw new Error("the dashboard was not started");
  display.done();
  say(`\nCreating examples for the dashboard at ${dashboard.url}:\n`);
  await inNamespace(environment, namespace, async () => {
    await grantRoles(client, dashboard.users, namespace);
    const steps = { environment, namespace, ...running };
    const print = stepPrinter(environment);
    // The file is deleted with the platform, which ends the writes with an error.
    if (podLogsPath) void writePodLogs(podLogsPath, signal).catch(() => undefined);
    await createExamples(steps, print);
    await checkDashboard(steps, dashboard, healthyName, print);
    await checkConnection(steps, dashboard, print);
    // Last, so that it stays on the screen.
    say(["", ...instructions(github), "", ...guideToDashboard(dashboard, namespace)].join("\n"));
    if (onShown) await onShown({ dashboard, namespace, github, signal });
    else if (process.stdout.isTTY) await untilStopped(environment, signal);
  });
}

/** Waits for Ctrl-C, or for the end of a simulator. */
async function untilStopped({ directory }: DemoEnvironment, signal: AbortSignal): Promise<void> {
  say(`Logs are in ${directory}/logs. Ctrl-C stops everything.`);
  if (!signal.aborted) await once(signal, "abort");
  throw signal.reason;
}

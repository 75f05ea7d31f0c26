/** The demo `paas`: pull requests get previews, which are deleted when they are closed. */
import { say } from "denrei/runtime";
import { timed } from "../../environment/progress.ts";
import {
  allowedAs,
  githubSimulator,
  type SimulatedGitHub,
  startGitHub,
} from "../../environment/simulators/github.ts";
import { kpackSimulator } from "../../environment/simulators/kpack.ts";
import {
  refuseExistingCluster,
  requireSimulators,
  startInCluster,
} from "../../environment/simulators/start.ts";
import type { Demo, DemoOptions } from "./definition.ts";
import { inNamespace } from "./namespace.ts";
import { printPaasSteps } from "./paassteps.ts";
import { Records } from "./records.ts";

const functions = [
  "githubapp",
  "installation",
  "modoki-application",
  "modoki-remotesync",
  "modoki-apppipeline",
  "modoki-report",
];
const tokenSeconds = 3600;
const repository = "acme/web";
const namespace = "denrei-demo";

/** Throws a `UsageError` if a simulator is not installed, and for an existing cluster. */
export function paasDemo({ workers = 3 }: DemoOptions): Demo {
  requireSimulators(githubSimulator, kpackSimulator);
  refuseExistingCluster("the demo paas", "docs/paas.md");
  const records = new Records();
  const ended = new AbortController();
  const onEnd = (error: Error) => ended.abort(error);
  let github: SimulatedGitHub | undefined;
  return {
    parts: {
      workers,
      functions,
      gateways: 2,
      nodes: 1,
      dashboard: false,
      onLine: records.add,
      async before(preparation) {
        const { display, signal } = preparation;
        const started = startGitHub(preparation, { repository, tokenSeconds, onEnd, signal });
        github = await timed(display, "GitHub simulator", started);
        return allowedAs(github.url);
      },
    },
    async run(environment, display, stopped) {
      const signal = AbortSignal.any([stopped, ended.signal]);
      if (github === undefined) throw new Error("the GitHub simulator was not started");
      const steps = { environment, namespace, github, records, signal };
      const kpack = startInCluster(environment, kpackSimulator, { onEnd, signal });
      await timed(display, "kpack simulator", kpack);
      display.done();
      say(`\nOn the simulated GitHub at ${github.url}, an App is installed on ${repository}.`);
      say("No pod runs and no image is built: kwok and the kpack simulator report that they do.\n");
      await inNamespace(environment, namespace, () => printPaasSteps(steps));
    },
  };
}

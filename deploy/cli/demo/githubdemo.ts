/** The demo `github`: an App on a simulated GitHub, and the replicas that reconcile it. */
import { say } from "denrei/runtime";
import { timed } from "../../environment/progress.ts";
import {
  allowedAs,
  githubSimulator,
  type SimulatedGitHub,
  startGitHub,
} from "../../environment/simulators/github.ts";
import { requireSimulators } from "../../environment/simulators/start.ts";
import type { Demo, DemoOptions } from "./definition.ts";
import type { DemoEnvironment } from "./environment.ts";
import { printGitHubSteps } from "./githubsteps.ts";
import { inNamespace } from "./namespace.ts";
import { Records } from "./records.ts";

/** Tokens of GitHub last for an hour; these are refreshed after ten seconds. */
const tokenSeconds = 12;

/** Throws a `UsageError` if the simulator is not installed. */
export function githubDemo({ workers = 2 }: DemoOptions): Demo {
  requireSimulators(githubSimulator);
  const records = new Records();
  const ended = new AbortController();
  let github: SimulatedGitHub | undefined;
  return {
    parts: {
      workers,
      functions: ["githubapp", "installation"],
      gateways: 2,
      dashboard: false,
      onLine: records.add,
      async before(preparation) {
        const { display, signal } = preparation;
        // An existing bus may have other gateways: with a unique repository, webhooks reach only this demo.
        const repository = preparation.origin === "local" ? "acme/web" : `${namespaceOf(preparation)}/web`;
        const onEnd = (error: Error) => ended.abort(error);
        const started = startGitHub(preparation, { repository, tokenSeconds, onEnd, signal });
        github = await timed(display, "GitHub simulator", started);
        return allowedAs(github.url);
      },
    },
    async run(environment, _, stopped) {
      const signal = AbortSignal.any([stopped, ended.signal]);
      if (github === undefined) throw new Error("the GitHub simulator was not started");
      const steps = { environment, namespace: namespaceOf(environment), github, records, signal };
      say(`\nOn the simulated GitHub at ${github.url}, an App is installed on ${github.repository}.`);
      say(`Its tokens last ${tokenSeconds} s instead of an hour, so that you see them refreshed:\n`);
      await inNamespace(environment, steps.namespace, () => printGitHubSteps(steps));
    },
  };
}

const namespaceOf = ({ origin, id }: Pick<DemoEnvironment, "origin" | "id">): string =>
  origin === "local" ? "denrei-demo" : `denrei-demo-${id}`;

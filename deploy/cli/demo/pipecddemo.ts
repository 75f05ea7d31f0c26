/**
 * The demo `pipecd`: PipeCD starts from its sample, an agent and an application are registered, images that the PaaS builds are
 * deployed, and everything is deleted again.
 */
import { pipecd } from "@denrei/functions/components";
import { say } from "denrei/runtime";
import { timed } from "../../environment/progress.ts";
import { kpackSimulator } from "../../environment/simulators/kpack.ts";
import { addressesOf, agentEvent, pipecdSimulator } from "../../environment/simulators/pipecd.ts";
import {
  refuseExistingCluster,
  requireSimulators,
  startInCluster,
} from "../../environment/simulators/start.ts";
import type { Demo, DemoOptions } from "./definition.ts";
import { inNamespace } from "./namespace.ts";
import { printPipecdSteps } from "./pipecdsteps.ts";
import { Records } from "./records.ts";

const pipecdFunctions = Object.keys(pipecd.functions);
/** Functions that build the images. */
const paasFunctions = ["modoki-application", "modoki-remotesync"];
const namespace = "denrei-demo";

/** Throws a `UsageError` if a simulator is not installed, and for an existing cluster. */
export function pipecdDemo({ workers = 3 }: DemoOptions): Demo {
  requireSimulators(pipecdSimulator, kpackSimulator);
  refuseExistingCluster("the demo pipecd", "docs/pipecd.md");
  const records = new Records();
  /** Events of agents that are not printed yet. */
  const agents: string[] = [];
  const ended = new AbortController();
  return {
    parts: {
      workers,
      functions: [...pipecdFunctions, ...paasFunctions],
      gateways: 0,
      nodes: 1,
      dashboard: false,
      onLine: records.add,
      async before({ display, signal, ...preparation }) {
        const options = { onEnd: (error: Error) => ended.abort(error), signal };
        const onLine = (line: string) => {
          const event = agentEvent(line);
          if (event !== undefined) agents.push(event);
        };
        const pipecd = startInCluster(preparation, pipecdSimulator, { ...options, onLine });
        const kpack = startInCluster(preparation, kpackSimulator, options);
        const [addresses] = await Promise.all([
          timed(display, "PipeCD simulator", pipecd),
          timed(display, "kpack simulator", kpack),
        ]);
        return addressesOf(addresses);
      },
    },
    async run(environment, _display, stopped) {
      const signal = AbortSignal.any([stopped, ended.signal]);
      say(
        [
          "\nThe API server, its controllers, the bus, the bridge, and the workers are real. Pods are simulated: kwok reports",
          "running pods, one simulator acts as PipeCD v0.57.0 and its agent, with a Git repository in memory, and another acts as",
          "kpack and reports built images.\n",
        ].join("\n"),
      );
      await inNamespace(environment, namespace, () =>
        printPipecdSteps({ environment, namespace, records, signal, agents }),
      );
    },
  };
}

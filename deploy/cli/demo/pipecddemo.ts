/** The demo `pipecd`: PipeCD comes up from its sample, agent and application become known there, and all of it goes again. */
import { functions } from "../../../functions/index.ts";
import { say } from "../output.ts";
import type { Act, DemoOptions } from "./act.ts";
import { inNamespace } from "./namespace.ts";
import { tellPipecdSteps } from "./pipecdsteps.ts";
import { programOf, refuseOwnCluster, startPlayedInCluster } from "./played.ts";
import { addressesOf, pipecdPart } from "./playedpipecd.ts";
import { Records } from "./records.ts";
import { timed } from "./timed.ts";

const act = "pipecd";
const ours = functions.map(({ name }) => name).filter((name) => name.startsWith("pipecd-"));
const namespace = "denrei-demo";

/** The act. Throws a `UsageError` without a program that plays PipeCD, and in somebody's own cluster. */
export function pipecdAct({ workers = 3, pipecd }: DemoOptions): Act {
  const part = pipecdPart(`npm run demo -- ${act}`);
  const program = programOf(part, pipecd);
  refuseOwnCluster(`the demo ${act}`, "runs", "docs/pipecd.md");
  const records = new Records();
  const ended = new AbortController();
  return {
    cast: {
      workers,
      functions: ours,
      gateways: 0,
      nodes: 1,
      onLine: records.add,
      async before({ display, signal, ...backstage }) {
        const onEnd = (error: Error) => ended.abort(error);
        const played = startPlayedInCluster(backstage, part, { program, onEnd, signal });
        return addressesOf(await timed(display, "PipeCD stand-in", played));
      },
    },
    async play(stage, _display, stopped) {
      const signal = AbortSignal.any([stopped, ended.signal]);
      say(
        [
          "\nReal are the API server and its controllers, the bus, the bridge and the workers. Played is what runs in pods: kwok says",
          "that they run, and a stand-in answers as the server of PipeCD v0.57.0 and reports as its agent.\n",
        ].join("\n"),
      );
      await inNamespace(stage, namespace, () => tellPipecdSteps({ stage, namespace, records, signal }));
    },
  };
}

/**
 * The demo `pipecd`: PipeCD comes up from its sample, agent and application become known there, images that the PaaS builds are
 * deployed, and all of it goes again.
 */
import { functions } from "../../../functions/index.ts";
import { say } from "../output.ts";
import type { Act, DemoOptions } from "./act.ts";
import { inNamespace } from "./namespace.ts";
import { tellPipecdSteps } from "./pipecdsteps.ts";
import { programOf, refuseOwnCluster, startPlayedInCluster } from "./played.ts";
import { kpackPart } from "./playedkpack.ts";
import { addressesOf, deedOfAgent, pipecdPart } from "./playedpipecd.ts";
import { Records } from "./records.ts";
import { timed } from "./timed.ts";

const act = "pipecd";
const ours = functions.map(({ name }) => name).filter((name) => name.startsWith("pipecd-"));
/** What builds images. */
const builders = ["modoki-application", "modoki-remotesync"];
const namespace = "denrei-demo";

/** The act. Throws a `UsageError` without a program that plays PipeCD, and in somebody's own cluster. */
export function pipecdAct({ workers = 3, ...programs }: DemoOptions): Act {
  const command = `npm run demo -- ${act}`;
  const parts = { pipecd: pipecdPart(command), kpack: kpackPart(command) };
  const [pipecd, kpack] = [programOf(parts.pipecd, programs.pipecd), programOf(parts.kpack, programs.kpack)];
  refuseOwnCluster(`the demo ${act}`, "runs", "docs/pipecd.md");
  const records = new Records();
  /** Deeds of agents that are not printed yet. */
  const agents: string[] = [];
  const ended = new AbortController();
  return {
    cast: {
      workers,
      functions: [...ours, ...builders],
      gateways: 0,
      nodes: 1,
      onLine: records.add,
      async before({ display, signal, ...backstage }) {
        const onEnd = (error: Error) => ended.abort(error);
        const onLine = (line: string) => {
          const did = deedOfAgent(line);
          if (did !== undefined) agents.push(did);
        };
        const options = { onEnd, signal };
        const [played] = await Promise.all([
          timed(
            display,
            "PipeCD stand-in",
            startPlayedInCluster(backstage, parts.pipecd, { ...options, onLine, program: pipecd }),
          ),
          timed(
            display,
            "kpack stand-in",
            startPlayedInCluster(backstage, parts.kpack, { ...options, program: kpack }),
          ),
        ]);
        return addressesOf(played);
      },
    },
    async play(stage, _display, stopped) {
      const signal = AbortSignal.any([stopped, ended.signal]);
      say(
        [
          "\nReal are the API server and its controllers, the bus, the bridge and the workers. Played is what runs in pods: kwok says",
          "that they run, a stand-in answers as the server of PipeCD v0.57.0 and does what its agent would do, with a repository that is in",
          "its memory, and a stand-in for kpack says that images are built.\n",
        ].join("\n"),
      );
      await inNamespace(stage, namespace, () =>
        tellPipecdSteps({ stage, namespace, records, signal, agents }),
      );
    },
  };
}

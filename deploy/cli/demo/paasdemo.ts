/** The demo `paas`: pull requests become previews, and go again. */
import { say } from "../output.ts";
import type { Act, DemoOptions } from "./act.ts";
import { inNamespace } from "./namespace.ts";
import { tellPaasSteps } from "./paassteps.ts";
import { programOf, refuseOwnCluster, startPlayedInCluster } from "./played.ts";
import { allowedAs, githubPart, type PlayedGitHub, startPlayedGitHub } from "./playedgithub.ts";
import { kpackPart } from "./playedkpack.ts";
import { Records } from "./records.ts";
import { timed } from "./timed.ts";

const act = "paas";
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

/** The act. Throws a `UsageError` without the programs that play GitHub and kpack, and in somebody's own cluster. */
export function paasAct({ workers = 3, ...programs }: DemoOptions): Act {
  const command = `npm run demo -- ${act}`;
  const parts = { github: githubPart(command), kpack: kpackPart(command) };
  const [github, kpack] = [programOf(parts.github, programs.github), programOf(parts.kpack, programs.kpack)];
  refuseOwnCluster(`the demo ${act}`, "builds", "docs/paas.md");
  const records = new Records();
  const ended = new AbortController();
  const onEnd = (error: Error) => ended.abort(error);
  let onGitHub: PlayedGitHub | undefined;
  return {
    cast: {
      workers,
      functions,
      gateways: 2,
      nodes: 1,
      onLine: records.add,
      async before(backstage) {
        const { display, signal } = backstage;
        const options = { part: parts.github, program: github, repository, tokenSeconds, onEnd, signal };
        onGitHub = await timed(display, "emulated GitHub", startPlayedGitHub(backstage, options));
        return allowedAs(onGitHub.url);
      },
    },
    async play(stage, display, stopped) {
      const signal = AbortSignal.any([stopped, ended.signal]);
      const played = onGitHub;
      if (played === undefined) throw new Error("the emulated GitHub was not started");
      await timed(
        display,
        "kpack stand-in",
        startPlayedInCluster(stage, parts.kpack, { onEnd, signal, program: kpack }),
      );
      display.done();
      say(`\nOn ${played.url}, which plays GitHub, an App is installed on ${repository}.`);
      say(
        "Pods are not really run, and images are not really built: kwok and a stand-in for kpack say that they are.\n",
      );
      await inNamespace(stage, namespace, () =>
        tellPaasSteps({ stage, namespace, github: played, records, signal }),
      );
    },
  };
}

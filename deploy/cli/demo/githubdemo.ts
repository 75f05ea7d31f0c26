/** The demo `github`: an App on a GitHub that is played by a program, and the replicas that look after it. */
import { say } from "../output.ts";
import type { Act, DemoOptions } from "./act.ts";
import { tellSteps } from "./githubsteps.ts";
import { inNamespace } from "./namespace.ts";
import { programOf } from "./played.ts";
import { allowedAs, githubPart, type PlayedGitHub, startPlayedGitHub } from "./playedgithub.ts";

import { Records } from "./records.ts";
import type { Stage } from "./stage.ts";
import { timed } from "./timed.ts";

/** Tokens of GitHub work for an hour; these are refreshed after ten seconds. */
const tokenSeconds = 12;

/** The act. Throws a `UsageError` without a program that plays GitHub. */
export function githubAct({ workers = 2, github: program }: DemoOptions): Act {
  const part = githubPart("npm run demo -- github");
  const path = programOf(part, program);
  const records = new Records();
  const ended = new AbortController();
  let onGitHub: PlayedGitHub | undefined;
  const namespaceOf = ({ origin, id }: Pick<Stage, "origin" | "id">) =>
    origin === "local" ? "denrei-demo" : `denrei-demo-${id}`;
  return {
    cast: {
      workers,
      functions: ["githubapp", "installation"],
      gateways: 2,
      onLine: records.add,
      async before(backstage) {
        const { display, signal } = backstage;
        // On an existing bus the repository has its own name, so that webhooks reach only this demo.
        const repository = backstage.origin === "local" ? "acme/web" : `${namespaceOf(backstage)}/web`;
        const onEnd = (error: Error) => ended.abort(error);
        const options = { part, program: path, repository, tokenSeconds, onEnd, signal };
        onGitHub = await timed(display, "emulated GitHub", startPlayedGitHub(backstage, options));
        return allowedAs(onGitHub.url);
      },
    },
    async play(stage, _, stopped) {
      const signal = AbortSignal.any([stopped, ended.signal]);
      const github = onGitHub;
      if (github === undefined) throw new Error("the emulated GitHub was not started");
      const namespace = namespaceOf(stage);
      say(`\nOn ${github.url}, which plays GitHub, an App is installed on ${github.repository}.`);
      say(`Its tokens live for ${tokenSeconds} s, not for an hour, so that you see them refreshed:\n`);
      await inNamespace(stage, namespace, () => tellSteps({ stage, namespace, github, records, signal }));
    },
  };
}

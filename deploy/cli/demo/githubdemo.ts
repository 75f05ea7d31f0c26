/** The demo `github`: an App on a GitHub that is played by a program, and the replicas that look after it. */
import { say } from "../output.ts";
import type { Act, DemoOptions } from "./act.ts";
import { tellSteps } from "./githubsteps.ts";
import { inNamespace } from "./namespace.ts";
import { programOf } from "./played.ts";
import { githubPart, startPlayedGitHub } from "./playedgithub.ts";
import { duration } from "./progress.ts";
import { Records } from "./records.ts";

/** Tokens of GitHub work for an hour; these are refreshed after ten seconds. */
const tokenSeconds = 12;

/** The act. Throws a `UsageError` without a program that plays GitHub. */
export function githubAct({ workers = 2, github: program }: DemoOptions): Act {
  const part = githubPart("npm run demo -- github");
  const path = programOf(part, program);
  const records = new Records();
  return {
    cast: { workers, functions: ["githubapp", "installation"], gateways: 2, onLine: records.add },
    async play(stage, display, stopped) {
      const ended = new AbortController();
      const signal = AbortSignal.any([stopped, ended.signal]);
      const namespace = stage.origin === "local" ? "denrei-demo" : `denrei-demo-${stage.id}`;
      // On somebody's own bus its webhooks are nobody else's.
      const repository = stage.origin === "local" ? "acme/web" : `${namespace}/web`;
      const begun = performance.now();
      const onEnd = (error: Error) => ended.abort(error);
      const github = await startPlayedGitHub(stage, {
        part,
        program: path,
        repository,
        tokenSeconds,
        onEnd,
        signal,
      });
      display.line("emulated GitHub", `ready after ${duration(performance.now() - begun)}`, "result");
      display.done();
      say(`\nOn ${github.url}, which plays GitHub, an App is installed on ${repository}.`);
      say(`Its tokens live for ${tokenSeconds} s, not for an hour, so that you see them refreshed:\n`);
      await inNamespace(stage, namespace, () => tellSteps({ stage, namespace, github, records, signal }));
    },
  };
}

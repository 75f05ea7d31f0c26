/** The demo `github`: an App on a GitHub that is played by a program, and the replicas that look after it. */
import { existsSync } from "node:fs";
import { optInLabel } from "../../bus/domain.ts";
import type { KubeClient } from "../../bus/kube/client.ts";
import { isConflict, isNotFound } from "../../bus/kube/errors.ts";
import { apiVersionOf, Namespace } from "../../bus/kube/kind.ts";
import type { Stored } from "../../bus/kube/object.ts";
import type { Act, DemoOptions } from "./act.ts";
import { tellSteps } from "./githubsteps.ts";
import { say } from "./output.ts";
import { noProgram, startPlayedGitHub } from "./playedgithub.ts";
import { duration } from "./progress.ts";
import { Records } from "./records.ts";
import type { Stage } from "./stage.ts";

/** Tokens of GitHub work for an hour; these are refreshed after ten seconds. */
const tokenSeconds = 12;
/** How long taking the namespace away may take, in milliseconds. */
const removeMillis = 2000;

/** The act. Throws a `UsageError` without a program that plays GitHub. */
export function githubAct({ workers = 2, github: program }: DemoOptions): Act {
  if (program === undefined) throw noProgram("none");
  if (!existsSync(program)) throw noProgram(program);
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
      const github = await startPlayedGitHub(stage, { program, repository, tokenSeconds, onEnd, signal });
      display.line("emulated GitHub", `ready after ${duration(performance.now() - begun)}`, "result");
      display.done();
      say(`\nOn ${github.url}, which plays GitHub, an App is installed on ${repository}.`);
      say(`Its tokens live for ${tokenSeconds} s, not for an hour, so that you see them refreshed:\n`);
      await inNamespace(stage, namespace, () => tellSteps({ stage, namespace, github, records, signal }));
    },
  };
}

/** Makes a namespace in which Secrets are looked at; one in somebody's own cluster is taken away again. */
async function inNamespace(
  { client, origin }: Stage,
  name: string,
  play: () => Promise<void>,
): Promise<void> {
  const metadata = { name, labels: { [optInLabel]: "true" } };
  const namespace = { apiVersion: apiVersionOf(Namespace), kind: Namespace.kind, metadata, spec: {} };
  const made = await client.create(Namespace, namespace, { fieldManager: "denrei-cli" });
  try {
    await play();
  } finally {
    if (origin === "existing") await removeNamespace(client, made);
  }
}

async function removeNamespace(client: KubeClient, { metadata }: Stored): Promise<void> {
  const { name, uid } = metadata;
  try {
    await client.delete(Namespace, { name }, { uid, signal: AbortSignal.timeout(removeMillis) });
    say(`\nThe namespace ${name} is deleted; the CRDs stay in the cluster.`);
  } catch (error) {
    // Somebody else has taken it away.
    if (isNotFound(error) || isConflict(error)) return;
    say(`\nThe namespace ${name} could not be deleted: ${(error as Error).message}`);
  }
}

/**
 * What becomes of pull requests, step by step, with the replica that did each: previews are built and shown, GitHub is told,
 * a commit is built anew, and of a pull request that is closed nothing is left.
 */
import type { Kind } from "../../../bus/kube/kind.ts";
import { Secret } from "../../../bus/kube/kind.ts";
import type { KubeObject, Stored } from "../../../bus/kube/object.ts";
import { kubectlTable } from "../../../bus/kube/table.ts";
import { Deployment } from "../../../bus/kube/workloads.ts";
import { GitHubApp, Installation } from "../../../functions/ghapp/kinds.ts";
import { Build, Image } from "../../../functions/paas/kinds/kpack.ts";
import { Application, AppPipeline, type Preview, RemoteSync } from "../../../functions/paas/kinds.ts";
import type { SimulatedGitHub } from "../../environment/simulators/github.ts";
import { say } from "../output.ts";
import { type Deed, deeds } from "./events.ts";
import { type GitHubUser, githubUser } from "./githubuser.ts";
import { isReady, until } from "./settled.ts";
import { create, type Steps, settledIn, stepPrinter } from "./story.ts";

/** What the steps are made with. */
export interface PaasPlay extends Steps {
  readonly github: SimulatedGitHub;
}

const [appName, keyName, tokenName, registryName, pipelineName] = [
  "app",
  "app-key",
  "acme-web",
  "regcred",
  "web",
] as const;
const pemKey = "private-key.pem";
const registry = "registry.example.com";
const domainBase = "preview.example.com";

const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** Does each step, and prints who has done what, and what there is to be seen. */
export async function printPaasSteps(play: PaasPlay): Promise<void> {
  const { github, signal } = play;
  const step = stepPrinter(play.environment);
  const user = githubUser(github, signal);

  await preparePipeline(play);
  step(
    "demo",
    `created an App, an Installation with its token in the Secret ${tokenName}, and the AppPipeline ${pipelineName}`,
  );

  const hello = await user.openPullRequest({ branch: "hello", title: "Say hello" });
  const goodbye = await user.openPullRequest({ branch: "goodbye", title: "Say goodbye" });
  step("demo", `opened the pull requests #${hello} and #${goodbye}`);
  for (const number of [hello, goodbye]) {
    await shown(play, number);
    await tellDeeds(play, number, step);
  }
  await show(play, Application, AppPipeline, RemoteSync);
  await showReports(play, user, hello);

  const sha = await user.push("hello", "Say it once more");
  step("demo", `pushed ${sha.slice(0, 12)} to #${hello}`);
  await shown(play, hello, sha);
  await tellDeeds(play, hello, step);
  await show(play, Build);

  await user.closePullRequest(goodbye);
  step("demo", `closed #${goodbye}`);
  await gone(play, goodbye);
  await tellDeeds(play, goodbye, step);
  step("demo", `found nothing of #${goodbye} that is left:`);
  await show(play, Application, RemoteSync, Image, Deployment);
  let comment = "";
  await until(`a comment on #${goodbye} that says that the preview was deleted`, play.signal, async () => {
    [comment = ""] = await user.comments(goodbye);
    return comment.includes("was deleted");
  });
  say(`\nThe comment on #${goodbye} now:\n${indented(comment)}`);
}

/** All that a team would write once: an App, its token, credentials of a registry, and the AppPipeline. */
export async function preparePipeline(play: PaasPlay): Promise<void> {
  const { github } = play;
  const pem = base64(github.privateKey);
  await create(play, Secret, keyName, { data: { [pemKey]: pem } });
  await create(play, GitHubApp, appName, {
    spec: { url: github.url, appID: github.appId, privateKeySecretRef: { name: keyName, key: pemKey } },
  });
  await create(play, Installation, tokenName, {
    spec: {
      appRef: { kind: GitHubApp.kind, name: appName },
      installationID: github.installationId,
      format: "basic-auth",
      template: { metadata: { annotations: { "kpack.io/git": github.url } } },
    },
  });
  const auths = { [registry]: { auth: base64("user:password") } };
  await create(play, Secret, registryName, {
    type: "kubernetes.io/dockerconfigjson",
    data: { ".dockerconfigjson": base64(JSON.stringify({ auths })) },
  });
  await settledIn(play, Installation, tokenName, isReady);
  const [owner, repo] = github.repository.split("/");
  await create(play, AppPipeline, pipelineName, {
    spec: {
      domainBase,
      applicationTemplate: { spec: { healthCheck: { path: "/" } } },
      base: { github: { owner, repo, secretName: tokenName } },
      image: { name: `${registry}/acme/web`, secretName: registryName },
    },
  });
}

/** The preview of a pull request, once it is ready: of this commit, if it is given. */
export async function shown(play: PaasPlay, number: number, sha?: string): Promise<Preview> {
  const find = ({ status }: AppPipeline): Preview | undefined =>
    status?.previews?.find(
      (preview) =>
        preview.number === number &&
        preview.phase === "Ready" &&
        (sha === undefined || preview.headSHA === sha),
    );
  return find(
    await settledIn(play, AppPipeline, pipelineName, (found) => find(found) !== undefined),
  ) as Preview;
}

/** Waits until what a preview was made of is gone. */
async function gone(play: PaasPlay, number: number): Promise<void> {
  const { client } = play.environment;
  const isOf = (object: Stored<KubeObject>) => new RegExp(`-pr-${number}(-|$)`).test(object.metadata.name);
  await until(`the preview of #${number} to go`, play.signal, async () => {
    for (const kind of [Application, RemoteSync, Image, Build, Deployment] as readonly Kind[]) {
      const { items } = await client.list(kind, play.namespace);
      if (items.some(isOf)) return false;
    }
    return true;
  });
}

/** What was done for a pull request and was not told yet, by whom. */
async function tellDeeds(
  play: PaasPlay,
  number: number,
  step: ReturnType<typeof stepPrinter>,
): Promise<void> {
  const name = `modoki-pipeline-${pipelineName}-pr-${number}`;
  const isAbout = ({ about, note }: Deed) =>
    about === name || (about === pipelineName && new RegExp(`#${number}\\b`).test(note));
  for (const { by, note } of await deeds(play, isAbout)) step(by, note);
}

async function show({ environment: stage, namespace }: PaasPlay, ...kinds: readonly Kind[]): Promise<void> {
  for (const kind of kinds) {
    say(`\n$ kubectl get ${kind.plural}.${kind.group} -n ${namespace}`);
    say(await kubectlTable(stage.client, kind, namespace));
  }
  say("");
}

/** What GitHub shows. */
async function showReports(play: PaasPlay, user: GitHubUser, number: number): Promise<void> {
  const preview = await shown(play, number);
  let comment = "";
  await until(`a comment on #${number} that says that the preview is ready`, play.signal, async () => {
    [comment = ""] = await user.comments(number);
    return comment.includes(preview.url ?? "?");
  });
  say(`The comment on #${number}:\n${indented(comment)}`);
  say(
    `\nStatuses of ${preview.headSHA.slice(0, 12)}: ${(await user.statuses(preview.headSHA)).join(", ")}\n`,
  );
}

const indented = (text: string): string =>
  text
    .trim()
    .split("\n")
    .map((line) => `    ${line}`.trimEnd())
    .join("\n");

/**
 * The steps of the demo `paas`, each with the replica that did it: previews of pull requests are built and reported on GitHub, a new
 * commit is built, and a closed pull request leaves nothing behind.
 */
import { GitHubApp, Installation } from "@denrei/functions/ghapp/kinds";
import { Application, AppPipeline, type Preview, RemoteSync } from "@denrei/functions/paas/kinds";
import { Build, Image } from "@denrei/functions/paas/kinds/kpack";
import { Deployment, type Kind, type KubeObject, Secret, type Stored } from "denrei/kinds";
import { kubectlTable } from "denrei/kubernetes";
import { say } from "denrei/runtime";
import type { SimulatedGitHub } from "../../environment/simulators/github.ts";
import { type Action, newActions } from "./events.ts";
import { type GitHubUser, githubUser } from "./githubuser.ts";
import { isReady, until } from "./settled.ts";
import { create, type StepPrinter, type Steps, settledIn, stepPrinter } from "./steps.ts";

/** What the steps need. */
export interface PaasSteps extends Steps {
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

/** Performs and prints the steps and their objects. */
export async function printPaasSteps(steps: PaasSteps): Promise<void> {
  const { github, signal } = steps;
  const print = stepPrinter(steps.environment);
  const user = githubUser(github, signal);

  await preparePipeline(steps);
  print(
    "demo",
    `created an App, an Installation with its token in the Secret ${tokenName}, and the AppPipeline ${pipelineName}`,
  );

  const hello = await user.openPullRequest({ branch: "hello", title: "Say hello" });
  const goodbye = await user.openPullRequest({ branch: "goodbye", title: "Say goodbye" });
  print("demo", `opened the pull requests #${hello} and #${goodbye}`);
  for (const number of [hello, goodbye]) {
    await readyPreview(steps, number);
    await printActions(steps, number, print);
  }
  await show(steps, Application, AppPipeline, RemoteSync);
  await showReports(steps, user, hello);

  const sha = await user.push("hello", "Say it once more");
  print("demo", `pushed ${sha.slice(0, 12)} to #${hello}`);
  await readyPreview(steps, hello, sha);
  await printActions(steps, hello, print);
  await show(steps, Build);

  await user.closePullRequest(goodbye);
  print("demo", `closed #${goodbye}`);
  await untilDeleted(steps, goodbye);
  await printActions(steps, goodbye, print);
  print("demo", `verified that nothing of #${goodbye} remains:`);
  await show(steps, Application, RemoteSync, Image, Deployment);
  let comment = "";
  await until(`the comment on #${goodbye} to report the deletion`, steps.signal, async () => {
    [comment = ""] = await user.comments(goodbye);
    return comment.includes("was deleted");
  });
  say(`\nThe comment on #${goodbye} now:\n${indented(comment)}`);
}

/** Creates what a team creates once: an App, its token, registry credentials, and the AppPipeline. */
export async function preparePipeline(steps: PaasSteps): Promise<void> {
  const { github } = steps;
  const pem = base64(github.privateKey);
  await create(steps, Secret, keyName, { data: { [pemKey]: pem } });
  await create(steps, GitHubApp, appName, {
    spec: { url: github.url, appID: github.appId, privateKeySecretRef: { name: keyName, key: pemKey } },
  });
  await create(steps, Installation, tokenName, {
    spec: {
      appRef: { kind: GitHubApp.kind, name: appName },
      installationID: github.installationId,
      format: "basic-auth",
      template: { metadata: { annotations: { "kpack.io/git": github.url } } },
    },
  });
  const auths = { [registry]: { auth: base64("user:password") } };
  await create(steps, Secret, registryName, {
    type: "kubernetes.io/dockerconfigjson",
    data: { ".dockerconfigjson": base64(JSON.stringify({ auths })) },
  });
  await settledIn(steps, Installation, tokenName, isReady);
  const [owner, repo] = github.repository.split("/");
  await create(steps, AppPipeline, pipelineName, {
    spec: {
      domainBase,
      applicationTemplate: { spec: { healthCheck: { path: "/" } } },
      base: { github: { owner, repo, secretName: tokenName } },
      image: { name: `${registry}/acme/web`, secretName: registryName },
    },
  });
}

/** Waits until the preview of a pull request (of the commit, if given) is ready. */
export async function readyPreview(steps: PaasSteps, number: number, sha?: string): Promise<Preview> {
  const find = ({ status }: AppPipeline): Preview | undefined =>
    status?.previews?.find(
      (preview) =>
        preview.number === number &&
        preview.phase === "Ready" &&
        (sha === undefined || preview.headSHA === sha),
    );
  return find(
    await settledIn(steps, AppPipeline, pipelineName, (found) => find(found) !== undefined),
  ) as Preview;
}

async function untilDeleted(steps: PaasSteps, number: number): Promise<void> {
  const { client } = steps.environment;
  const isOf = (object: Stored<KubeObject>) => new RegExp(`-pr-${number}(-|$)`).test(object.metadata.name);
  await until(`the objects of the preview of #${number} to be deleted`, steps.signal, async () => {
    for (const kind of [Application, RemoteSync, Image, Build, Deployment] as readonly Kind[]) {
      const { items } = await client.list(kind, steps.namespace);
      if (items.some(isOf)) return false;
    }
    return true;
  });
}

async function printActions(steps: PaasSteps, number: number, print: StepPrinter): Promise<void> {
  const name = `modoki-pipeline-${pipelineName}-pr-${number}`;
  const isRelevant = ({ object, note }: Action) =>
    object === name || (object === pipelineName && new RegExp(`#${number}\\b`).test(note));
  for (const { actor, note } of await newActions(steps, isRelevant)) print(actor, note);
}

async function show({ environment, namespace }: PaasSteps, ...kinds: readonly Kind[]): Promise<void> {
  for (const kind of kinds) {
    say(`\n$ kubectl get ${kind.plural}.${kind.group} -n ${namespace}`);
    say(await kubectlTable(environment.client, kind, namespace));
  }
  say("");
}

/** Prints the comment and the statuses on GitHub. */
async function showReports(steps: PaasSteps, user: GitHubUser, number: number): Promise<void> {
  const preview = await readyPreview(steps, number);
  let comment = "";
  await until(`the comment on #${number} to report the preview`, steps.signal, async () => {
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

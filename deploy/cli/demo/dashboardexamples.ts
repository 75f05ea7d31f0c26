/** Example objects for every screen of the dashboard. */

import { Application } from "@denrei/functions/paas/kinds";
import { Hikawa } from "@denrei/functions/zundoko/kinds";
import { githubUser } from "./githubuser.ts";
import { type PaasSteps, preparePipeline, readyPreview } from "./paassteps.ts";
import { applySample, readSample } from "./pipecdsample.ts";
import { isReady, readyCondition } from "./settled.ts";
import { create, type StepPrinter, settledIn } from "./steps.ts";

/** An Application that is ready and has run two images. */
export const healthyName = "shop";
const failingName = "greedy";
const image = (version: number): string => `registry.example.com/acme/shop:v${version}`;
/** The names of a Hikawa's children, which are longer, would exceed the limit. */
const tooLongName = "a-hikawa-with-".padEnd(250, "long-");

/** Creates all examples; resolves when each has the intended state. */
export async function createExamples(steps: PaasSteps, print: StepPrinter): Promise<void> {
  await preparePipeline(steps);
  await Promise.all([
    previews(steps, print),
    applications(steps, print),
    songs(steps, print),
    pipecd(steps, print),
  ]);
}

async function previews(steps: PaasSteps, print: StepPrinter): Promise<void> {
  const user = githubUser(steps.github, steps.signal);
  const numbers = [
    await user.openPullRequest({ branch: "hello", title: "Say hello" }),
    await user.openPullRequest({ branch: "goodbye", title: "Say goodbye" }),
  ];
  for (const number of numbers) await readyPreview(steps, number);
  print(
    "demo",
    `opened the pull requests ${numbers.map((number) => `#${number}`).join(" and ")}: both have a preview`,
  );
}

async function applications(steps: PaasSteps, print: StepPrinter): Promise<void> {
  const common = { replicas: 2, healthCheck: { path: "/" } };
  await create(steps, Application, healthyName, {
    spec: { ...common, domains: ["shop.example.com"], image: image(1) },
  });
  await settledIn(steps, Application, healthyName, isRunning(image(1)));
  await steps.environment.client.mergePatch(
    Application,
    { namespace: steps.namespace, name: healthyName },
    { spec: { image: image(2) } },
    { fieldManager: "denrei-cli" },
  );
  await settledIn(steps, Application, healthyName, isRunning(image(2)));
  print("demo", `the Application ${healthyName} is ready and has run two images`);
  await create(steps, Application, failingName, {
    spec: {
      domains: ["greedy.example.com"],
      image: "registry.example.com/acme/greedy:v1",
      // Invalid: the request exceeds the limit.
      resources: { requests: { memory: "2Gi" }, limits: { memory: "1Gi" } },
    },
  });
  await settledIn(steps, Application, failingName, (found) => readyCondition(found)?.status === "False");
  print("demo", `the Application ${failingName} fails and reports the reason`);
}

const isRunning =
  (desired: string) =>
  (found: Application): boolean =>
    isReady(found) && found.status?.currentImage === desired;

async function songs(steps: PaasSteps, print: StepPrinter): Promise<void> {
  await create(steps, Hikawa, "hikawa", { spec: { intervalMillis: 2000 } });
  await create(steps, Hikawa, tooLongName, { spec: { intervalMillis: 2000 } });
  await settledIn(steps, Hikawa, tooLongName, (found) => readyCondition(found)?.reason === "NameTooLong");
  print("demo", "one Hikawa sings; another is a dead letter, because its name is too long");
}

async function pipecd(steps: PaasSteps, print: StepPrinter): Promise<void> {
  await applySample(steps, await readSample());
  print("demo", "applied the PipeCD sample, which is now starting");
}

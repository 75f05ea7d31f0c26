/** What there is to be seen on each screen of the dashboard. */

import { Application } from "../../../functions/paas/kinds.ts";
import { Hikawa } from "../../../functions/zundoko/kinds.ts";
import { githubUser } from "./githubuser.ts";
import { type PaasPlay, preparePipeline, shown } from "./paassteps.ts";
import { applySample, readSample } from "./pipecdsample.ts";
import { isReady, readyCondition } from "./settled.ts";
import { create, settledIn } from "./story.ts";

/** The Application that is well, and has run two images. */
export const healthyName = "shop";
const failingName = "greedy";
const image = (version: number): string => `registry.example.com/acme/shop:v${version}`;
/** Children of a Hikawa need room in its name. */
const tooLongName = "a-hikawa-with-".padEnd(250, "long-");

type Step = (by: string, what: string) => void;

/** Makes all of it; resolves when it is as it should be. */
export async function createExamples(play: PaasPlay, step: Step): Promise<void> {
  await preparePipeline(play);
  await Promise.all([previews(play, step), applications(play, step), songs(play, step), pipecd(play, step)]);
}

async function previews(play: PaasPlay, step: Step): Promise<void> {
  const user = githubUser(play.github, play.signal);
  const numbers = [
    await user.openPullRequest({ branch: "hello", title: "Say hello" }),
    await user.openPullRequest({ branch: "goodbye", title: "Say goodbye" }),
  ];
  for (const number of numbers) await shown(play, number);
  step(
    "demo",
    `opened the pull requests ${numbers.map((number) => `#${number}`).join(" and ")}: both have a preview`,
  );
}

async function applications(play: PaasPlay, step: Step): Promise<void> {
  const common = { replicas: 2, healthCheck: { path: "/" } };
  await create(play, Application, healthyName, {
    spec: { ...common, domains: ["shop.example.com"], image: image(1) },
  });
  await settledIn(play, Application, healthyName, isRunning(image(1)));
  await play.environment.client.mergePatch(
    Application,
    { namespace: play.namespace, name: healthyName },
    { spec: { image: image(2) } },
    { fieldManager: "denrei-cli" },
  );
  await settledIn(play, Application, healthyName, isRunning(image(2)));
  step("demo", `the Application ${healthyName} is well, and has run two images`);
  await create(play, Application, failingName, {
    spec: {
      domains: ["greedy.example.com"],
      image: "registry.example.com/acme/greedy:v1",
      // No pod can have less than nothing.
      resources: { limits: { memory: "-1" } },
    },
  });
  await settledIn(play, Application, failingName, (found) => readyCondition(found)?.status === "False");
  step("demo", `the Application ${failingName} fails, and says why`);
}

const isRunning =
  (wanted: string) =>
  (found: Application): boolean =>
    isReady(found) && found.status?.currentImage === wanted;

async function songs(play: PaasPlay, step: Step): Promise<void> {
  await create(play, Hikawa, "hikawa", { spec: { intervalMillis: 2000 } });
  await create(play, Hikawa, tooLongName, { spec: { intervalMillis: 2000 } });
  await settledIn(play, Hikawa, tooLongName, (found) => readyCondition(found)?.reason === "NameTooLong");
  step(
    "demo",
    "one Hikawa sings; another has too long a name, was given up, and lies among the dead letters",
  );
}

async function pipecd(play: PaasPlay, step: Step): Promise<void> {
  await applySample(play, await readSample());
  step("demo", "applied the sample of PipeCD: it comes up while you look");
}

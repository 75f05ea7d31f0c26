/** Images of the PaaS in PipeCD: each leads to an event, a commit of the agent, and a deployment. */
import { readFile } from "node:fs/promises";
import { Application, RemoteSync } from "@denrei/functions/paas/kinds";
import { ControlPlane, EventRegistration } from "@denrei/functions/pipecd/kinds";
import { type Kind, Secret } from "denrei/kinds";
import { kubectlTable } from "denrei/kubernetes";
import { say } from "denrei/runtime";
import { parse } from "yaml";
import type { EventLog } from "./eventlog.ts";
import type { SampleObject } from "./pipecdsample.ts";
import { until } from "./settled.ts";
import { create, type StepPrinter, type Steps, settledIn } from "./steps.ts";

/** What the steps of the demo `pipecd` need. */
export interface PipecdSteps extends Steps {
  /** Actions of agents that are not printed yet. */
  readonly agents: string[];
}

const samplePath = "functions/pipecd/samples/eventregistration.yaml";
const file = new URL(import.meta.resolve(`@denrei/${samplePath}`));
const [app, git] = ["web", "acme-web"];
const image = "registry.example.com/web";

/** Shortens digests, so that they fit in a line. */
export const shortened = (text: string): string => text.replace(/(sha256:[0-9a-f]{7})[0-9a-f]{57}/g, "$1…");

/** The sample, with an API key for each project, which the registration of events needs. */
export const withApiKeys = (sample: readonly SampleObject[]): readonly SampleObject[] =>
  sample.map((object) => {
    if (object.kind.kind !== ControlPlane.kind) return object;
    const { spec, ...content } = object.content as Pick<ControlPlane, "spec">;
    return { ...object, content: { ...content, spec: { ...spec, bootstrapAPIKeys: true } } };
  });

/** Builds two commits, and prints what happens to their images. */
export async function printImageSteps(steps: PipecdSteps, print: StepPrinter, log: EventLog): Promise<void> {
  const registration: EventRegistration = parse(await readFile(file, "utf8"));
  const { name } = registration.metadata;
  const data = { username: base64("x-access-token"), password: base64("none") };
  const annotations = { "kpack.io/git": "https://github.com" };
  const metadata = { name: git, namespace: steps.namespace, annotations };
  await create(steps, Secret, git, { metadata, type: "kubernetes.io/basic-auth", data });
  await create(steps, Application, app, { spec: { domains: ["web.example.com"], image: `${image}:none` } });
  await create(steps, EventRegistration, name, { spec: registration.spec });
  print("demo", `applied ${samplePath}: an event for each image that the RemoteSync ${app} builds`);
  let before = "";
  for (const revision of ["1".repeat(40), "2".repeat(40)]) {
    await requestBuild(steps, revision);
    print("demo", `requested a build of the commit ${revision.slice(0, 7)}`);
    const { latestImage = "" } = (await built(steps, revision, before)).status ?? {};
    const handled = ({ status }: EventRegistration) =>
      status?.registered?.data === latestImage && status.registered.state === "Succeeded";
    await settledIn(steps, EventRegistration, name, ({ status }) => status?.registered?.data === latestImage);
    await until("every step to be printed", steps.signal, async () => log.flush());
    await until("a deployment", steps.signal, async () =>
      steps.agents.some((action) => action.startsWith("created")),
    );
    for (const action of steps.agents.splice(0)) print("agent", shortened(action));
    const { status } = await settledIn(steps, EventRegistration, name, handled);
    print("demo", `found the EventRegistration ${name} handled (${status?.registered?.description})`);
    before = latestImage;
  }
  for (const kind of [RemoteSync, EventRegistration] as readonly Kind[]) {
    say(`\n$ kubectl get ${kind.plural}.${kind.group} -n ${steps.namespace}`);
    say(await kubectlTable(steps.environment.client, kind, steps.namespace));
  }
  say("");
}

/** Creates the RemoteSync, or sets its commit. */
async function requestBuild(steps: PipecdSteps, sha: string): Promise<void> {
  const { environment, namespace, signal } = steps;
  const base = { github: { owner: "acme", repo: "web", sha, secretName: git } };
  const { items } = await environment.client.list(RemoteSync, namespace, {}, signal);
  if (items.length === 0) {
    await create(steps, RemoteSync, app, {
      spec: { applicationRef: { name: app }, base, image: { name: image } },
    });
    return;
  }
  const options = { fieldManager: "denrei-cli", signal };
  await environment.client.mergePatch(RemoteSync, { namespace, name: app }, { spec: { base } }, options);
}

const built = (steps: PipecdSteps, revision: string, before: string) =>
  settledIn(
    steps,
    RemoteSync,
    app,
    ({ status }) =>
      status?.revision === revision && status.latestImage !== undefined && status.latestImage !== before,
  );

/** Deletes all objects that were created here. */
export async function deleteImages({ environment, namespace, signal }: PipecdSteps): Promise<void> {
  const { metadata } = parse(await readFile(file, "utf8"));
  const created: readonly (readonly [Kind, string])[] = [
    [EventRegistration as unknown as Kind, metadata.name],
    [RemoteSync as unknown as Kind, app],
    [Application as unknown as Kind, app],
    [Secret as unknown as Kind, git],
  ];
  for (const [kind, name] of created) await environment.client.delete(kind, { namespace, name }, { signal });
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");

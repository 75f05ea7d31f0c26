/** Images that the PaaS builds, and what becomes of them at PipeCD: an event, a commit of the agent, a deployment. */
import { readFile } from "node:fs/promises";
import { parse } from "yaml";
import { type Kind, Secret } from "../../../bus/kube/kind.ts";
import { kubectlTable } from "../../../bus/kube/table.ts";
import { Application, RemoteSync } from "../../../functions/paas/kinds.ts";
import { ControlPlane, EventRegistration } from "../../../functions/pipecd/kinds.ts";
import { say } from "../output.ts";
import type { SampleObject } from "./pipecdsample.ts";
import { until } from "./settled.ts";
import { create, type Steps, settledIn } from "./story.ts";

/** With deeds of agents that are not printed yet. */
export interface EventPlay extends Steps {
  readonly agents: string[];
}

const samplePath = "functions/pipecd/samples/eventregistration.yaml";
const file = new URL(`../../../${samplePath}`, import.meta.url);
const [app, git] = ["web", "acme-web"];
const image = "registry.example.com/web";

/** With the first digits of digests alone, which fit in a line. */
export const shortened = (text: string): string => text.replace(/(sha256:[0-9a-f]{7})[0-9a-f]{57}/g, "$1…");

/** The sample, with an API key for each project: events are registered with one. */
export const withApiKeys = (sample: readonly SampleObject[]): readonly SampleObject[] =>
  sample.map((object) => {
    if (object.kind.kind !== ControlPlane.kind) return object;
    const { spec, ...content } = object.content as Pick<ControlPlane, "spec">;
    return { ...object, content: { ...content, spec: { ...spec, bootstrapAPIKeys: true } } };
  });

/** Has two commits built, one after the other. */
export async function tellEvents(
  play: EventPlay,
  step: (by: string, what: string) => void,
  tell: () => boolean,
): Promise<void> {
  const registration: EventRegistration = parse(await readFile(file, "utf8"));
  const { name } = registration.metadata;
  const data = { username: base64("x-access-token"), password: base64("none") };
  const annotations = { "kpack.io/git": "https://github.com" };
  const metadata = { name: git, namespace: play.namespace, annotations };
  await create(play, Secret, git, { metadata, type: "kubernetes.io/basic-auth", data });
  await create(play, Application, app, { spec: { domains: ["web.example.com"], image: `${image}:none` } });
  await create(play, EventRegistration, name, { spec: registration.spec });
  step("demo", `applied ${samplePath}: an event for each image that the RemoteSync ${app} builds`);
  let before = "";
  for (const revision of ["1".repeat(40), "2".repeat(40)]) {
    await wish(play, revision);
    step("demo", `wants the commit ${revision.slice(0, 7)} to be built`);
    const { latestImage = "" } = (await built(play, revision, before)).status ?? {};
    const handled = ({ status }: EventRegistration) =>
      status?.registered?.data === latestImage && status.registered.state === "Succeeded";
    await settledIn(play, EventRegistration, name, ({ status }) => status?.registered?.data === latestImage);
    await until("every step to be printed", play.signal, async () => tell());
    await until("a deployment", play.signal, async () =>
      play.agents.some((did) => did.startsWith("created")),
    );
    for (const did of play.agents.splice(0)) step("agent", shortened(did));
    const { status } = await settledIn(play, EventRegistration, name, handled);
    step("demo", `found the EventRegistration ${name} handled (${status?.registered?.description})`);
    before = latestImage;
  }
  for (const kind of [RemoteSync, EventRegistration] as readonly Kind[]) {
    say(`\n$ kubectl get ${kind.plural}.${kind.group} -n ${play.namespace}`);
    say(await kubectlTable(play.environment.client, kind, play.namespace));
  }
  say("");
}

/** Makes the RemoteSync, or has it build another commit. */
async function wish(play: EventPlay, sha: string): Promise<void> {
  const { environment: stage, namespace, signal } = play;
  const base = { github: { owner: "acme", repo: "web", sha, secretName: git } };
  const { items } = await stage.client.list(RemoteSync, namespace, {}, signal);
  if (items.length === 0) {
    await create(play, RemoteSync, app, {
      spec: { applicationRef: { name: app }, base, image: { name: image } },
    });
    return;
  }
  const options = { fieldManager: "denrei-cli", signal };
  await stage.client.mergePatch(RemoteSync, { namespace, name: app }, { spec: { base } }, options);
}

const built = (play: EventPlay, revision: string, before: string) =>
  settledIn(
    play,
    RemoteSync,
    app,
    ({ status }) =>
      status?.revision === revision && status.latestImage !== undefined && status.latestImage !== before,
  );

/** Deletes all that was made here. */
export async function deleteImages({ environment: stage, namespace, signal }: EventPlay): Promise<void> {
  const { metadata } = parse(await readFile(file, "utf8"));
  const made: readonly (readonly [Kind, string])[] = [
    [EventRegistration as unknown as Kind, metadata.name],
    [RemoteSync as unknown as Kind, app],
    [Application as unknown as Kind, app],
    [Secret as unknown as Kind, git],
  ];
  for (const [kind, name] of made) await stage.client.delete(kind, { namespace, name }, { signal });
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");

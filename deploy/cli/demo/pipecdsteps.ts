/**
 * What becomes of PipeCD, step by step: its parts come up, an environment, an agent and an application become known there; images that
 * the PaaS builds become events, commits and deployments; all
 * of it is deleted at once, goes in the order in which each is still needed, and leaves nothing behind.
 */
import type { Kind } from "../../../bus/kube/kind.ts";
import { ConfigMap, Pod, Secret } from "../../../bus/kube/kind.ts";
import { ClusterRole, ClusterRoleBinding } from "../../../bus/kube/rbac.ts";
import { kubectlTable } from "../../../bus/kube/table.ts";
import { Deployment, Service, ServiceAccount, StatefulSet } from "../../../bus/kube/workloads.ts";
import { say } from "../output.ts";
import { chronicle, type Fact, type Topic } from "./chronicle.ts";
import { deedOf, Event, type EventObject } from "./events.ts";
import { deleteImages, type EventPlay, shortened, tellEvents, withApiKeys } from "./pipecdevents.ts";
import { applySample, deleteSample, isOurs, readSample, sampleKinds, samplePath } from "./pipecdsample.ts";
import { type Conditioned, readyCondition, until } from "./settled.ts";
import { type Steps, stepPrinter } from "./story.ts";

type Workload = Deployment | StatefulSet;

const workloads = [StatefulSet, Deployment] as unknown as readonly Kind<Workload>[];
/** What is made for them, in the namespace and in none. */
const made = [...workloads, Pod, Service, ConfigMap, Secret, ServiceAccount] as readonly Kind[];
const rights = [ClusterRole, ClusterRoleBinding] as readonly Kind[];
/** Kubernetes makes these in every namespace. */
const everywhere = /^(ConfigMap kube-root-ca\.crt|ServiceAccount default)$/;

/** Does each step, and prints who has done what, and what there is to be seen. */
export async function printPipecdSteps(play: EventPlay): Promise<void> {
  const step = stepPrinter(play.environment);
  const sample = await readSample();
  const ours = sample.filter(isOurs);
  const { topics, ready, gone } = whatToTell(play);
  const { tell } = await chronicle(play, topics, step);

  await applySample(play, withApiKeys(sample));
  step("demo", `applied ${samplePath}: ${listed(sample.map(({ kind }) => kind.kind))}`);
  await until("PipeCD to come up", play.signal, async () => tell() && ready.size === ours.length);
  for (const kind of [...sampleKinds, ...workloads] as readonly Kind[]) await show(play, kind);
  say(`\nThe agent may do anything: ${listed(await namesOf(play, rights))}.\n`);

  await tellEvents(play, step, tell);

  await deleteImages(play);
  await deleteSample(play, ours);
  step("demo", "deleted all of it at once, and first what the others need");
  await until("PipeCD to go", play.signal, async () => tell() && gone.size === ours.length);
  await deleteSample(
    play,
    sample.filter((object) => !isOurs(object)),
  );
  await until("everything that was made for it to go", play.signal, async () => {
    const found = [...(await namesOf(play, made)), ...(await namesOf(play, rights))];
    return found.every((name) => everywhere.test(name));
  });
  const kinds = [...made, ...rights].map(({ kind }) => kind);
  step("demo", `found nothing left: no ${kinds.slice(0, -1).join(", ")} or ${kinds.at(-1)}`);
}

/** Workloads when their pods are said to run, what PipeCD was told, objects when they are ready, and when they are gone. */
function whatToTell({ environment: stage }: Steps) {
  const [running, ready, gone] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const replicas = new Set(stage.replicas.map(({ name }) => name));
  const once = (names: Set<string>, name: string, by: string, what: string): Fact | undefined => {
    if (names.has(name)) return undefined;
    names.add(name);
    return { by, what };
  };
  const topics = [
    ...workloads.map(
      (kind): Topic<Workload> => ({
        kind,
        fact(type, { metadata: { name }, spec, status = {} }) {
          if (type === "DELETED" || !status.availableReplicas) return undefined;
          return once(running, `${kind.kind} ${name}`, "kwok", `runs ${name}: ${imageOf(spec)}`);
        },
      }),
    ),
    ...sampleKinds.map(
      (kind): Topic<Conditioned> => ({
        kind,
        fact(type, object) {
          const name = `${kind.kind} ${object.metadata.name}`;
          if (type === "DELETED") return once(gone, name, "", `the ${name} is gone`);
          const { status, message } = readyCondition(object) ?? {};
          if (status !== "True") return undefined;
          return once(ready, name, "demo", `found the ${name} ready (${message})`);
        },
      }),
    ),
    {
      kind: Event,
      fact(type, event) {
        const { by, note } = deedOf(event);
        const { uid = "", resourceVersion = "" } = event.regarding ?? {};
        return type === "ADDED" && replicas.has(by)
          ? { by, what: shortened(note), seen: { uid, resourceVersion } }
          : undefined;
      },
    } satisfies Topic<EventObject>,
  ] as unknown as readonly Topic[];
  return { topics, ready, gone };
}

const imageOf = (spec: Workload["spec"]): string =>
  (spec as Deployment["spec"]).template?.spec?.containers?.[0]?.image ?? "?";

/** `Kind name` of what is there. Of what is in no namespace, only what is the sample's. */
async function namesOf(
  { environment: stage, namespace, signal }: Steps,
  kinds: readonly Kind[],
): Promise<readonly string[]> {
  const lists = kinds.map(async (kind) => {
    const isCluster = kind.scope === "Cluster";
    const { items } = await stage.client.list(kind, isCluster ? undefined : namespace, {}, signal);
    return items
      .filter(({ metadata }) => !isCluster || metadata.name.startsWith(`pipecd:${namespace}:`))
      .map(({ metadata }) => `${kind.kind} ${metadata.name}`);
  });
  return (await Promise.all(lists)).flat();
}

async function show({ environment: stage, namespace }: Steps, kind: Kind): Promise<void> {
  say(`\n$ kubectl get ${kind.plural}.${kind.group} -n ${namespace}`);
  say(await kubectlTable(stage.client, kind, namespace));
}

/** `a`, `a and b`, `a, b and c`. */
const listed = (names: readonly string[]): string =>
  names.length < 2 ? names.join() : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;

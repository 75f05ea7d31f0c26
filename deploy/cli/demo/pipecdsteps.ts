/**
 * The steps of the demo `pipecd`: its parts start; an environment, an agent, and an application are registered; images of the PaaS
 * lead to events, commits, and deployments. Then everything is deleted at once, disappears in the order of its dependencies, and leaves
 * nothing behind.
 */
import {
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  Deployment,
  type Kind,
  Pod,
  Secret,
  Service,
  ServiceAccount,
  StatefulSet,
} from "denrei/kinds";
import { kubectlTable } from "denrei/kubernetes";
import { say } from "denrei/runtime";
import { type LogEntry, type LogSource, openEventLog } from "./eventlog.ts";
import { actionOf, Event, type EventObject } from "./events.ts";
import { deleteImages, type PipecdSteps, printImageSteps, shortened, withApiKeys } from "./pipecdevents.ts";
import { applySample, deleteSample, isOurs, readSample, sampleKinds, samplePath } from "./pipecdsample.ts";
import { type Conditioned, readyCondition, until } from "./settled.ts";
import { type Steps, stepPrinter } from "./steps.ts";

type Workload = Deployment | StatefulSet;

const workloads = [StatefulSet, Deployment] as unknown as readonly Kind<Workload>[];
/** Kinds of their children, namespaced and cluster-scoped. */
const childKinds = [...workloads, Pod, Service, ConfigMap, Secret, ServiceAccount] as readonly Kind[];
const roleKinds = [ClusterRole, ClusterRoleBinding] as readonly Kind[];
/** Kubernetes creates these in every namespace. */
const everywhere = /^(ConfigMap kube-root-ca\.crt|ServiceAccount default)$/;

/** Performs and prints the steps and their objects. */
export async function printPipecdSteps(steps: PipecdSteps): Promise<void> {
  const print = stepPrinter(steps.environment);
  const sample = await readSample();
  const ours = sample.filter(isOurs);
  const { sources, ready, deleted } = logSources(steps);
  const log = await openEventLog(steps, sources, print);

  await applySample(steps, withApiKeys(sample));
  print("demo", `applied ${samplePath}: ${listed(sample.map(({ kind }) => kind.kind))}`);
  await until("PipeCD to become ready", steps.signal, async () => log.flush() && ready.size === ours.length);
  for (const kind of [...sampleKinds, ...workloads] as readonly Kind[]) await show(steps, kind);
  say(`\nThe agent has all permissions: ${listed(await namesOf(steps, roleKinds))}.\n`);

  await printImageSteps(steps, print, log);

  await deleteImages(steps);
  await deleteSample(steps, ours);
  print("demo", "deleted everything at once, dependencies first");
  await until("PipeCD to be deleted", steps.signal, async () => log.flush() && deleted.size === ours.length);
  await deleteSample(
    steps,
    sample.filter((object) => !isOurs(object)),
  );
  await until("the children to be deleted", steps.signal, async () => {
    const found = [...(await namesOf(steps, childKinds)), ...(await namesOf(steps, roleKinds))];
    return found.every((name) => everywhere.test(name));
  });
  const kinds = [...childKinds, ...roleKinds].map(({ kind }) => kind);
  print("demo", `verified that nothing remains: no ${kinds.slice(0, -1).join(", ")}, or ${kinds.at(-1)}`);
}

/** Logs running workloads, actions of replicas, and objects that become ready or are deleted. */
function logSources({ environment }: Steps) {
  const [running, ready, deleted] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const replicas = new Set(environment.replicas.map(({ name }) => name));
  const once = (names: Set<string>, name: string, actor: string, text: string): LogEntry | undefined => {
    if (names.has(name)) return undefined;
    names.add(name);
    return { actor, text };
  };
  const sources = [
    ...workloads.map(
      (kind): LogSource<Workload> => ({
        kind,
        entry(type, { metadata: { name }, spec, status = {} }) {
          if (type === "DELETED" || !status.availableReplicas) return undefined;
          return once(running, `${kind.kind} ${name}`, "kwok", `runs ${name}: ${imageOf(spec)}`);
        },
      }),
    ),
    ...sampleKinds.map(
      (kind): LogSource<Conditioned> => ({
        kind,
        entry(type, object) {
          const name = `${kind.kind} ${object.metadata.name}`;
          if (type === "DELETED") return once(deleted, name, "", `the ${name} was deleted`);
          const { status, message } = readyCondition(object) ?? {};
          if (status !== "True") return undefined;
          return once(ready, name, "demo", `found the ${name} ready (${message})`);
        },
      }),
    ),
    {
      kind: Event,
      entry(type, event) {
        const { actor, note } = actionOf(event);
        const { uid = "", resourceVersion = "" } = event.regarding ?? {};
        return type === "ADDED" && replicas.has(actor)
          ? { actor, text: shortened(note), seen: { uid, resourceVersion } }
          : undefined;
      },
    } satisfies LogSource<EventObject>,
  ] as unknown as readonly LogSource[];
  return { sources, ready, deleted };
}

const imageOf = (spec: Workload["spec"]): string =>
  (spec as Deployment["spec"]).template?.spec?.containers?.[0]?.image ?? "?";

/** `Kind name` of existing objects; of cluster-scoped kinds, only objects of the sample. */
async function namesOf(
  { environment, namespace, signal }: Steps,
  kinds: readonly Kind[],
): Promise<readonly string[]> {
  const lists = kinds.map(async (kind) => {
    const isCluster = kind.scope === "Cluster";
    const { items } = await environment.client.list(kind, isCluster ? undefined : namespace, {}, signal);
    return items
      .filter(({ metadata }) => !isCluster || metadata.name.startsWith(`pipecd:${namespace}:`))
      .map(({ metadata }) => `${kind.kind} ${metadata.name}`);
  });
  return (await Promise.all(lists)).flat();
}

async function show({ environment, namespace }: Steps, kind: Kind): Promise<void> {
  say(`\n$ kubectl get ${kind.plural}.${kind.group} -n ${namespace}`);
  say(await kubectlTable(environment.client, kind, namespace));
}

/** `a`, `a and b`, `a, b, and c`. */
const listed = (names: readonly string[]): string =>
  names.length < 3 ? names.join(" and ") : `${names.slice(0, -1).join(", ")}, and ${names.at(-1)}`;

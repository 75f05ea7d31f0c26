/** How what runs, and what PipeCD has registered, differ from what a PipeCD object asks for. Pure. */
import {
  controllerOf,
  type Deployment,
  type KubeObject,
  matchesDesired,
  type StatefulSet,
  type Stored,
} from "denrei/kinds";
import { type Difference, type Drift, difference, type State } from "../ui/differences/difference.ts";
import { text as shared } from "../ui/differences/text.ts";
import { conditionsOf } from "../ui/health.ts";
import { healthOfAny } from "../ui/tree/health.ts";
import { type Program, programsOf } from "./programs.ts";
import { isRegistered, registrationDifferences } from "./registration.ts";
import { driftText as text } from "./text.ts";

type Workload = Stored<Deployment | StatefulSet>;

/** A list: the part of `Watched` that is in use, without the page's code, so that unit tests need no browser. */
interface WorkloadList {
  readonly state: "loading" | "live" | "refused" | "away";
  readonly items: readonly Workload[];
  readonly asOf?: number | undefined;
}

interface Running {
  readonly program: Program;
  readonly workload: Workload | undefined;
}

/**
 * Compares an object with its workloads and with its last registration. Undefined if there is nothing to compare: PipeCD has no
 * environments since v0.37.1.
 */
export function driftOf(
  object: Stored,
  { workloads, stack }: { readonly workloads: WorkloadList; readonly stack: readonly KubeObject[] },
): Drift | undefined {
  const own = workloads.items.filter((workload) => controllerOf(workload)?.uid === object.metadata.uid);
  const running = programsOf(object).map((program): Running => ({ program, workload: find(program, own) }));
  const registered = registrationDifferences(object, stack);
  if (running.length === 0 && registered === undefined && (!isRegistered(object) || isReady(object)))
    return undefined;
  const differences = [...(registered ?? []), ...running.flatMap(programDifferences)];
  const [tone, sentence] =
    ownState(object) ??
    listState(running, workloads) ??
    rolloutState(running) ??
    missingState(object, running, { registered, differences }) ??
    (differences.length > 0 ? ["busy", shared.differs] : ["good", shared.same]);
  return { tone, sentence, differences };
}

const component = "app.kubernetes.io/component";

const find = ({ component: name }: Program, own: readonly Workload[]): Workload | undefined =>
  own.find(({ metadata }) => name === undefined || metadata.labels?.[component] === name);

const readyOf = (object: KubeObject) => conditionsOf(object).find(({ type }) => type === "Ready");
const isReady = (object: KubeObject): boolean => readyOf(object)?.status === "True";

function ownState({ kind, metadata, status }: Stored): State | undefined {
  if (metadata.deletionTimestamp !== undefined) return ["busy", shared.deleting(kind)];
  const { observedGeneration = 0 } = (status ?? {}) as { observedGeneration?: number };
  return observedGeneration < (metadata.generation ?? 0) ? ["busy", shared.notReconciled] : undefined;
}

/** Why the workloads are not known. */
function listState(running: readonly Running[], { state, asOf }: WorkloadList): State | undefined {
  if (running.length === 0) return undefined;
  if (state === "refused") return ["off", text.forbidden];
  return asOf === undefined ? ["off", text.notLoaded] : undefined;
}

/** The first workload that is not rolled out. */
function rolloutState(running: readonly Running[]): State | undefined {
  for (const { workload } of running) {
    const [tone, word] = workload ? healthOfAny(workload) : [];
    if (workload && (tone === "bad" || tone === "busy"))
      return [tone, text.rollout(workload.metadata.name, word ?? "")];
  }
  return undefined;
}

/** Why something is missing or differs, in the words of the object's own condition if there are any. */
function missingState(
  object: Stored,
  running: readonly Running[],
  {
    registered,
    differences,
  }: {
    readonly registered: readonly Difference[] | undefined;
    readonly differences: readonly Difference[];
  },
): State | undefined {
  const missing = running.find(({ workload }) => workload === undefined)?.program;
  const isUnregistered = isRegistered(object) && registered === undefined;
  if (missing === undefined && !isUnregistered && differences.length === 0) return undefined;
  const { status, message = "" } = readyOf(object) ?? {};
  if (status === "False" && message !== "") return ["bad", shared.notApplied(message)];
  if (missing)
    return [
      "bad",
      shared.missing(missing.component ? `${missing.workload} of ${missing.component}` : missing.workload),
    ];
  return isUnregistered ? ["busy", text.notRegistered] : undefined;
}

interface PodSpec {
  readonly containers?: readonly {
    readonly image?: string;
    readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
  }[];
  readonly volumes?: readonly { readonly name: string }[];
}

function programDifferences({ program, workload }: Running): readonly Difference[] {
  if (workload === undefined) return [];
  const { component: name, version, replicas, mounts } = program;
  const { replicas: found = 1, template } = workload.spec as Deployment["spec"];
  const pod: PodSpec = template?.spec ?? {};
  const [container] = pod.containers ?? [];
  const tag = tagOf(container?.image);
  return [
    ...difference(text.pods(name), found === replicas, `${replicas}`, `${found}`),
    ...(version === undefined ? [] : difference(text.version(name), tag === version, version, tag)),
    ...mounts.flatMap(({ mountPath, volume }) => {
      const mounted = container?.volumeMounts?.find((mount) => mount.mountPath === mountPath)?.name;
      const source = pod.volumes?.find((one) => one.name === mounted);
      const isSame = mounted === volume.name && matchesDesired(source, volume);
      return difference(text.volume(mountPath, name), isSame, JSON.stringify(volume), volumeText(source));
    }),
  ];
}

/** The tag of an image; a registry's port is none. */
const tagOf = (image: string | undefined): string =>
  /:([^:/@]+)(@.*)?$/.exec(image ?? "")?.[1] ?? shared.notSet;

const volumeText = (volume: object | undefined): string => (volume ? JSON.stringify(volume) : shared.notSet);

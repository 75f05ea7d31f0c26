/** Evaluates rendered ScaledObjects: whether KEDA would run a worker of a function. */
import { isActive, type Monitors, type TriggerMetadata } from "../harness/keda.ts";
import { find, type Manifest } from "./manifests.ts";

/** The fields of a ScaledObject that these tests read. */
export interface ScaledObject extends Manifest {
  readonly spec: {
    readonly scaleTargetRef: { readonly name: string };
    readonly minReplicaCount: number;
    readonly fallback?: { readonly failureThreshold: number; readonly replicas: number };
    readonly triggers: readonly {
      readonly type: string;
      readonly metadata: TriggerMetadata;
      readonly authenticationRef: { readonly name: string };
    }[];
  };
}

interface TriggerAuthentication extends Manifest {
  readonly spec: {
    readonly configMapTargetRef: readonly {
      readonly parameter: string;
      readonly name: string;
      readonly key: string;
    }[];
  };
}

/** The ScaledObject of a function. */
export const scaledObjectOf = (objects: readonly Manifest[], fn: string): ScaledObject =>
  find<ScaledObject>(objects, "ScaledObject", `denrei-${fn}`);

/** The monitoring endpoint of a function's triggers, from the objects that they reference. */
export function monitorEndpoint(objects: readonly Manifest[], fn: string): string {
  const [name, ...others] = new Set(
    scaledObjectOf(objects, fn).spec.triggers.map(({ authenticationRef }) => authenticationRef.name),
  );
  const { spec } = find<TriggerAuthentication>(objects, "TriggerAuthentication", name ?? "");
  const [reference, ...more] = spec.configMapTargetRef;
  if (others.length > 0 || more.length > 0 || reference?.parameter !== "natsServerMonitoringEndpoint")
    throw new Error(`not all triggers of ${fn} have the monitoring endpoint: ${JSON.stringify(spec)}`);
  return find(objects, "ConfigMap", reference.name).data?.[reference.key] ?? "";
}

/** `stream/consumer` of the active triggers. Throws when a trigger cannot be read. */
export async function activeTriggers(
  objects: readonly Manifest[],
  fn: string,
  bus: Omit<Monitors, "endpoint">,
): Promise<string[]> {
  const { active, unreadable } = await look(objects, fn, bus);
  if (unreadable.length > 0) throw new Error(`cannot read these triggers of ${fn}: ${unreadable.join()}`);
  return active;
}

/** The triggers in a poll of KEDA, as `stream/consumer`, and its decision. */
export interface Look {
  readonly active: string[];
  readonly unreadable: string[];
  /** Whether the function would have a worker after more consecutive failed polls than its `fallback` tolerates. */
  readonly awake: boolean;
}

/**
 * Simulates one poll of KEDA. With a `fallback`, an unreadable trigger counts as active, even without a worker:
 * `getScalerState` in pkg/scaling/scale_handler.go of github.com/kedacore/keda/v2 v2.21.0.
 */
export async function look(
  objects: readonly Manifest[],
  fn: string,
  bus: Omit<Monitors, "endpoint">,
): Promise<Look> {
  const monitors = { ...bus, endpoint: monitorEndpoint(objects, fn) };
  const { triggers, fallback } = scaledObjectOf(objects, fn).spec;
  const answers = await Promise.allSettled(triggers.map(({ metadata }) => isActive(metadata, monitors)));
  const names = (wanted: (answer: PromiseSettledResult<boolean> | undefined) => boolean) =>
    triggers
      .filter((_, at) => wanted(answers[at]))
      .map(({ metadata: { stream, consumer } }) => `${stream}/${consumer}`);
  const active = names((answer) => answer?.status === "fulfilled" && answer.value);
  const unreadable = names((answer) => answer?.status === "rejected");
  return {
    active,
    unreadable,
    awake: active.length > 0 || (unreadable.length > 0 && (fallback?.replicas ?? 0) > 0),
  };
}

/** Waits for one object, and describes everything known about it when it does not become as expected. */
import type { Kind, KubeObject, Stored } from "denrei/kinds";
import type { KubeClient } from "denrei/kubernetes";
import type { Kubectl } from "./kubectl.ts";
import type { Ref } from "./options.ts";
import { describe, type Sources } from "./report.ts";
import { type Target, watched } from "./watching.ts";

/** What waits need. */
export interface WaitOptions {
  readonly client: KubeClient;
  readonly kubectl: Kubectl;
  /** The default namespace of objects. */
  readonly namespace: string;
  readonly sources: Sources;
  readonly deadlineMillis: number;
  /** Aborts when the run is stopped. */
  readonly stopped: AbortSignal;
}

/** Resolves with the object when it is as expected; undefined when it is expected to be absent. */
export type WaitFor = <T extends KubeObject>(
  ref: Ref<T>,
  expected: Target["expected"],
  millis?: number,
) => Promise<Stored<T> | undefined>;

/** Aborts after `millis`, or when the run is stopped. */
export const limitOf = ({ stopped }: Pick<WaitOptions, "stopped">, millis: number): AbortSignal =>
  AbortSignal.any([AbortSignal.timeout(millis), stopped]);

/** Opens the wait for single objects. */
export const openWait =
  (options: WaitOptions): WaitFor =>
  async <T extends KubeObject>(
    ref: Ref<T>,
    expected: Target["expected"],
    millis = options.deadlineMillis,
  ): Promise<Stored<T> | undefined> => {
    const { client, sources, stopped } = options;
    const target = { ...(await located(ref, options)), expected };
    const [observed] = await watched(client, [target], limitOf(options, millis));
    stopped.throwIfAborted();
    if (observed?.differences.length === 0) return observed.object as Stored<T> | undefined;
    throw new Error(
      `${target.kind.kind} ${target.at.name} did not become as expected within ${millis} ms:\n` +
        `  ${observed?.differences.join("\n  ")}\n${await describe(sources, target)}`,
    );
  };

async function located<T extends KubeObject>(
  { name, ...ref }: Ref<T>,
  { kubectl, namespace }: WaitOptions,
): Promise<Pick<Target, "kind" | "at">> {
  const kind = "apiVersion" in ref ? await kubectl.kindOf(ref.apiVersion, ref.kind) : (ref.kind as Kind);
  return {
    kind,
    at: kind.scope === "Cluster" ? { name } : { namespace: ref.namespace ?? namespace, name },
  };
}

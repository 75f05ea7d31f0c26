/** Waiting for an object to be as it should be. */
import { setTimeout as sleep } from "node:timers/promises";
import type { KubeClient } from "../../../bus/kube/client.ts";
import { ApiError, ApiUnreachableError } from "../../../bus/kube/errors.ts";
import type { Kind } from "../../../bus/kube/kind.ts";
import type { Condition, KubeObject, Stored } from "../../../bus/kube/object.ts";
import { AbsentError } from "../../environment/errors.ts";

/** How long it may take, and how often it is looked. Milliseconds. */
const settleMillis = 60_000;
const lookMillis = 100;

/** An object with conditions. */
export type Conditioned = KubeObject<unknown, { readonly conditions?: readonly Condition[] | undefined }>;

/** Which object, and until when to wait for it. */
export interface SettledOptions<T extends Conditioned> {
  readonly client: KubeClient;
  readonly kind: Kind<T>;
  readonly namespace: string;
  readonly name: string;
  readonly isSettled: (object: Stored<T>) => boolean;
  readonly signal: AbortSignal;
}

/** The object, once it is as it should be. Throws an `AbsentError` that says what keeps it from that for a minute. */
export async function settled<T extends Conditioned>(options: SettledOptions<T>): Promise<Stored<T>> {
  const { client, kind, namespace, name, isSettled, signal } = options;
  const late = performance.now() + settleMillis;
  let found: Stored<T> | undefined;
  while (performance.now() < late) {
    signal.throwIfAborted();
    try {
      found = await client.get(kind, { namespace, name }, signal);
      if (isSettled(found)) return found;
    } catch (error) {
      if (!isPassing(error)) throw error;
    }
    // An abort only ends the pause; the loop's first line then throws the signal's own reason.
    await sleep(lookMillis, undefined, { signal }).catch(() => undefined);
  }
  const why = found && readyCondition(found)?.message;
  throw new AbsentError(
    `expected the ${kind.kind} ${namespace}/${name} to come forward within ${settleMillis / 1000} s, found ${why || "nobody who looks after it"}`,
  );
}

/** Waits until something is so. Throws an `AbsentError` that names it when it is not within a minute. */
export async function until(what: string, signal: AbortSignal, isSo: () => Promise<boolean>): Promise<void> {
  const late = performance.now() + settleMillis;
  while (performance.now() < late) {
    signal.throwIfAborted();
    if (await isSo()) return;
    await sleep(lookMillis, undefined, { signal }).catch(() => undefined);
  }
  throw new AbsentError(
    `expected ${what} within ${settleMillis / 1000} s, found that it has not come to that`,
  );
}

/** Whether an object says of itself that it is ready. */
export const isReady = (object: Conditioned): boolean => readyCondition(object)?.status === "True";

/** What an object says of its being ready. */
export const readyCondition = ({ status }: Conditioned): Condition | undefined =>
  status?.conditions?.find(({ type }) => type === "Ready");

/** An API server that is being started again is waited for. */
const isPassing = (error: unknown): boolean =>
  error instanceof ApiUnreachableError || (error instanceof ApiError && error.status >= 500);

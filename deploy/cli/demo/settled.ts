/** Waiting for objects. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Condition, Kind, KubeObject, Stored } from "denrei/kinds";
import { ApiError, ApiUnreachableError, type KubeClient } from "denrei/kubernetes";
import { AbsentError } from "denrei/runtime";

/** Time limit and poll interval. Milliseconds. */
const timeoutMillis = 60_000;
const pollMillis = 100;

/** An object with conditions. */
export type Conditioned = KubeObject<unknown, { readonly conditions?: readonly Condition[] | undefined }>;

/** Which object to wait for. */
export interface SettledOptions<T extends Conditioned> {
  readonly client: KubeClient;
  readonly kind: Kind<T>;
  readonly namespace: string;
  readonly name: string;
  readonly isSettled: (object: Stored<T>) => boolean;
  readonly signal: AbortSignal;
}

/** Waits up to a minute until `isSettled`; returns the object. Throws an `AbsentError` with the message of its Ready condition. */
export async function settled<T extends Conditioned>(options: SettledOptions<T>): Promise<Stored<T>> {
  const { client, kind, namespace, name, isSettled, signal } = options;
  const deadline = performance.now() + timeoutMillis;
  let found: Stored<T> | undefined;
  while (performance.now() < deadline) {
    signal.throwIfAborted();
    try {
      found = await client.get(kind, { namespace, name }, signal);
      if (isSettled(found)) return found;
    } catch (error) {
      if (!isTemporary(error)) throw error;
    }
    // An abort ends the pause; the start of the loop then throws the signal's reason.
    await sleep(pollMillis, undefined, { signal }).catch(() => undefined);
  }
  const why = found && readyCondition(found)?.message;
  throw new AbsentError(
    `timed out after ${timeoutMillis / 1000} s waiting for the ${kind.kind} ${namespace}/${name}: ${why || "it has no Ready condition"}`,
  );
}

/** Waits up to a minute until `check` resolves to true. Throws an `AbsentError` with `what`. */
export async function until(what: string, signal: AbortSignal, check: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + timeoutMillis;
  while (performance.now() < deadline) {
    signal.throwIfAborted();
    if (await check()) return;
    await sleep(pollMillis, undefined, { signal }).catch(() => undefined);
  }
  throw new AbsentError(`timed out after ${timeoutMillis / 1000} s waiting for ${what}`);
}

/** Whether the Ready condition is True. */
export const isReady = (object: Conditioned): boolean => readyCondition(object)?.status === "True";

/** The Ready condition. */
export const readyCondition = ({ status }: Conditioned): Condition | undefined =>
  status?.conditions?.find(({ type }) => type === "Ready");

/** Errors while the API server restarts. */
const isTemporary = (error: unknown): boolean =>
  error instanceof ApiUnreachableError || (error instanceof ApiError && error.status >= 500);

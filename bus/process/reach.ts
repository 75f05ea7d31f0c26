/**
 * What is not there when a process starts: tried again until it is. A process that ended instead would be started again by
 * its supervisor, with pauses of up to five minutes (Kubernetes' CrashLoopBackOff) and its reason in a log that is gone.
 *
 * Whatever the network, a server, or a file that is replaced can put right is waited for: a refused connection, a
 * certificate that has expired, credentials that are not known (yet), a bus without a leader or without room. What is the
 * process's own, and read by it alone, is not: settings, a kubeconfig that is missing or malformed, an address in use. A
 * pod's volumes are there before it starts, and Kubernetes' own components leave for these, too.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { JetStreamApiError, JetStreamError } from "@nats-io/jetstream";
import { errors } from "@nats-io/transport-node";
import type { Logger } from "pino";
import { ApiError, ApiUnreachableError, CredentialsError } from "../kube/errors.ts";
import { BusUnreachableError } from "../nats/connect.ts";
import { DisconnectedError } from "../nats/inbox.ts";
import { BusReadError } from "../nats/lastvalues.ts";
import { TopologyError } from "../topology/ensure.ts";
import { redacted } from "../values/redact.ts";

const passing = [
  ApiError,
  ApiUnreachableError,
  BusReadError,
  BusUnreachableError,
  CredentialsError,
  DisconnectedError,
  JetStreamApiError,
  JetStreamError,
  TopologyError,
  errors.ConnectionError,
  errors.NoRespondersError,
  errors.PermissionViolationError,
  errors.RequestError,
  errors.TimeoutError,
] as const;

/** Whether waiting can help. */
export const isPassing = (error: unknown): error is Error =>
  passing.some((type) => error instanceof type) ||
  (error instanceof Error && error.cause !== undefined && isPassing(error.cause));

/** How to wait. */
export interface ReachOptions<T> {
  /** Beginning of what is logged: `the bus is not reachable`. */
  readonly trouble: string;
  readonly attempt: () => Promise<T>;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Why it is waited, for `/readyz`; undefined when it is over. */
  readonly onTrouble: (reason: string | undefined) => void;
}

const backoff = { baseMillis: 200, capMillis: 10_000 };

/** Tries until it works; throws what waiting does not help against, or the reason of `signal`. */
export async function reach<T>({ trouble, attempt, log, signal, onTrouble }: ReachOptions<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    signal.throwIfAborted();
    try {
      const reached = await attempt();
      if (tries > 1) log.info({ tries }, `no longer: ${trouble}`);
      onTrouble(undefined);
      return reached;
    } catch (error) {
      if (!isPassing(error)) throw error;
      const reason = redacted(`${trouble}: ${error.message}`);
      onTrouble(reason);
      const full = Math.min(backoff.capMillis, backoff.baseMillis * 2 ** Math.min(tries - 1, 10));
      const pause = Math.round(full * (0.5 + Math.random() / 2));
      log.error({ tries, retryInMillis: pause }, reason);
      await sleep(pause, undefined, { signal });
    }
  }
}

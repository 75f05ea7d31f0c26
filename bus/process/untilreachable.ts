/**
 * Retries connections at the start of a process. If the process exited instead, its supervisor would restart it with pauses of
 * up to five minutes (Kubernetes' CrashLoopBackOff), and the reason would be in the log of a former container.
 *
 * Failures that the network, a server, or a replaced file can fix are retried: a refused connection, an expired certificate,
 * unknown credentials, a bus without a leader or without space. Failures of the process's own configuration are not: settings,
 * a missing or malformed kubeconfig, an address in use. A pod's volumes exist before it starts, and Kubernetes' own components
 * exit in these cases, too.
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

/** Whether a retry can help. */
export const isPassing = (error: unknown): error is Error =>
  passing.some((type) => error instanceof type) ||
  (error instanceof Error && error.cause !== undefined && isPassing(error.cause));

/** Options of {@link untilReachable}. */
export interface UntilReachableOptions<T> {
  /** First part of the log message: `the bus is not reachable`. */
  readonly problem: string;
  readonly attempt: () => Promise<T>;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Called with the reason for the retries, for `/readyz`, and with undefined on success. */
  readonly onProblem: (reason: string | undefined) => void;
}

const backoff = { baseMillis: 200, capMillis: 10_000 };

/** Retries until the attempt succeeds. Throws errors that a retry cannot fix, or the reason of `signal`. */
export async function untilReachable<T>({
  problem,
  attempt,
  log,
  signal,
  onProblem,
}: UntilReachableOptions<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    signal.throwIfAborted();
    try {
      const reached = await attempt();
      if (tries > 1) log.info({ tries }, `no longer: ${problem}`);
      onProblem(undefined);
      return reached;
    } catch (error) {
      if (!isPassing(error)) throw error;
      const reason = redacted(`${problem}: ${error.message}`);
      onProblem(reason);
      const full = Math.min(backoff.capMillis, backoff.baseMillis * 2 ** Math.min(tries - 1, 10));
      const pause = Math.round(full * (0.5 + Math.random() / 2));
      log.error({ tries, retryInMillis: pause }, reason);
      await sleep(pause, undefined, { signal });
    }
  }
}

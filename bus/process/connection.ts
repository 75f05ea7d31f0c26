/** Watches the connection to the bus, and finds out why a lost one does not come back. */
import { setTimeout as sleep } from "node:timers/promises";
import { errors } from "@nats-io/transport-node";
import type { Logger } from "pino";
import { type Bus, type BusAddress, connectBus } from "../nats/connect.ts";
import { untilReachable } from "./untilreachable.ts";

/** Options of {@link watchConnection}. */
export interface WatchConnectionOptions {
  readonly bus: Pick<Bus, "nc">;
  readonly address: BusAddress;
  readonly log: Logger;
  /** Called with why the bus is unreachable, for `/readyz`, and with undefined when it is connected. */
  readonly onProblem: (reason: string | undefined) => void;
}

const problem = "the bus is not reachable";

/** A restarted server is back sooner, so the cause of the disconnect does not matter until then. Milliseconds. */
const patienceMillis = 2000;

/** Watches until the connection is closed. */
export async function watchConnection({
  bus,
  address,
  log,
  onProblem,
}: WatchConnectionOptions): Promise<void> {
  /** Set while the connection is lost. Aborts when it is restored. */
  let found: AbortController | undefined;

  /** The client library reconnects forever without reporting errors. A second connection attempt finds the cause. */
  async function askWhy({ signal }: AbortController): Promise<void> {
    try {
      await sleep(patienceMillis, undefined, { signal });
      await untilReachable({
        problem,
        log,
        signal,
        attempt: async () => (await connectBus(address)).nc.close(),
        onProblem(reason = problem) {
          if (!signal.aborted) onProblem(reason);
        },
      });
    } catch (error) {
      if (signal.aborted) return;
      log.error({ err: error }, problem);
      onProblem(`${problem}: ${(error as Error).message}`);
    }
  }

  for await (const status of bus.nc.status()) {
    if (status.type === "disconnect") {
      // A server that accepts and then closes a new connection causes one more disconnect, without new information.
      if (found !== undefined) continue;
      log.warn({ server: status.server }, "connection to the bus lost, reconnecting");
      onProblem(problem);
      found = new AbortController();
      void askWhy(found);
    } else if (status.type === "reconnect") {
      log.info({ server: status.server }, "connected to the bus again");
      found?.abort();
      found = undefined;
      onProblem(undefined);
    } else if (status.type === "error" && status.error instanceof errors.PermissionViolationError) {
      // The caller gets an error with advice as well.
      const { operation, subject } = status.error;
      log.warn({ operation, subject }, "permission denied by the bus");
    } else if (status.type === "error") {
      log.error({ err: status.error }, "the bus reports an error");
    }
  }
  found?.abort();
}

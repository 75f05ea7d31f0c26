/** A connection to the bus that was made and may be lost: who asks is told, and why it does not come back. */
import { setTimeout as sleep } from "node:timers/promises";
import { errors } from "@nats-io/transport-node";
import type { Logger } from "pino";
import { type Bus, type BusAddress, connectBus } from "../nats/connect.ts";
import { reach } from "./reach.ts";

/** What is watched, and who is told. */
export interface WatchConnectionOptions {
  readonly bus: Pick<Bus, "nc">;
  readonly address: BusAddress;
  readonly log: Logger;
  /** Why the bus is not reachable, for `/readyz`; undefined when it is. */
  readonly onTrouble: (reason: string | undefined) => void;
}

const trouble = "the bus is not reachable";

/** A server that is started again is back sooner: nobody asks why it is away. Milliseconds. */
const patienceMillis = 2000;

/** Watches until the connection is closed. */
export async function watchConnection({
  bus,
  address,
  log,
  onTrouble,
}: WatchConnectionOptions): Promise<void> {
  /** While the connection is lost: it is found again. */
  let found: AbortController | undefined;

  /** The client library tries to connect again for ever, and keeps to itself what comes of it. So it is tried beside it. */
  async function askWhy({ signal }: AbortController): Promise<void> {
    try {
      await sleep(patienceMillis, undefined, { signal });
      await reach({
        trouble,
        log,
        signal,
        attempt: async () => (await connectBus(address)).nc.close(),
        onTrouble(reason = trouble) {
          if (!signal.aborted) onTrouble(reason);
        },
      });
    } catch (error) {
      if (signal.aborted) return;
      log.error({ err: error }, trouble);
      onTrouble(`${trouble}: ${(error as Error).message}`);
    }
  }

  for await (const status of bus.nc.status()) {
    if (status.type === "disconnect") {
      // A server that hears a new connection out and ends it is one more loss, and tells nothing new.
      if (found !== undefined) continue;
      log.warn({ server: status.server }, "connection to the bus lost, reconnecting");
      onTrouble(trouble);
      found = new AbortController();
      void askWhy(found);
    } else if (status.type === "reconnect") {
      log.info({ server: status.server }, "connected to the bus again");
      found?.abort();
      found = undefined;
      onTrouble(undefined);
    } else if (status.type === "error" && status.error instanceof errors.PermissionViolationError) {
      // Whoever asked is told as well, and says what to do about it.
      const { operation, subject } = status.error;
      log.warn({ operation, subject }, "the bus does not let this user do that");
    } else if (status.type === "error") {
      log.error({ err: status.error }, "the bus reports an error");
    }
  }
  found?.abort();
}

/**
 * Signs of life for tickets while a debugger has stopped this process: they come from a thread with a connection of its own,
 * which goes on. So the bus sees a worker that takes its time, and nobody else is given the object. When the process dies, the
 * thread dies with it, and the ticket is delivered again as ever.
 */
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from "node:worker_threads";
import type { BusAddress } from "../nats/connect.ts";

/** A sign of life that the bus has confirmed, or the end of the connection over which they went. */
export type KeeperEvent =
  /** `sent` is in milliseconds of this thread's `performance.now()`. */
  { readonly reply: string; readonly sent: number } | "disconnected";

/** What the thread is told: the reply subject of a delivery. */
export type KeeperCommand = { readonly keep: string } | { readonly drop: string };

/** What the thread starts with. */
export interface KeeperData {
  readonly address: BusAddress;
  readonly everyMillis: number;
  /** What `process.hrtime` says, in milliseconds, when `performance.now()` of the process that asks is 0. */
  readonly epochMillis: number;
  readonly events: MessagePort;
}

/** Keeps tickets. */
export interface Keeper {
  keep(reply: string): void;
  drop(reply: string): void;
  /** Whether its thread has died: it keeps nothing any more. */
  readonly isGone: boolean;
  /** What has happened since this was last asked, in its order. To be asked before a ticket is judged by its age. */
  news(): Iterable<KeeperEvent>;
  stop(): void;
}

/** What a worker says that has one. */
export const debuggedWarning =
  "a debugger may stop this worker: what it has in hand stays its own, for however long";

/** What a worker says whose keeper has died. */
export const keeperGone =
  "the thread that keeps what this worker has in hand is gone: a debugger that stops it for longer than DENREI_ACK_WAIT_SECONDS " +
  "loses it to other workers. Start the worker again to have it kept";

/**
 * Starts a keeper; resolves when it is connected. Rejects as `connectBus` does. Calls back when its thread dies later, which counts
 * as the end of its connection.
 */
export async function startKeeper(
  address: BusAddress,
  ackWaitMillis: number,
  onGone: (error: Error) => void,
): Promise<Keeper> {
  const { port1: mine, port2: events } = new MessageChannel();
  const workerData: KeeperData = {
    address: { ...address, name: `${address.name}-keeper` },
    everyMillis: ackWaitMillis / 4,
    epochMillis: Number(process.hrtime.bigint()) / 1e6 - performance.now(),
    events,
  };
  const thread = new Worker(new URL("./keeperthread.ts", import.meta.url), {
    workerData,
    transferList: [events],
  });
  await new Promise((resolve, reject) => {
    thread.once("message", resolve);
    thread.once("error", reject);
  });
  let state: "running" | "stopped" | "died" | "buried" = "running";
  let cause = new Error("expected the thread to run until it is stopped, but it ended");
  thread.on("error", (error: Error) => {
    cause = error;
  });
  thread.once("exit", () => {
    if (state === "stopped") return;
    state = "died";
    onGone(cause);
  });
  thread.unref();
  mine.unref();
  const order = (text: KeeperCommand): void => thread.postMessage(text);
  return {
    keep: (reply) => order({ keep: reply }),
    drop: (reply) => order({ drop: reply }),
    get isGone() {
      return state === "died" || state === "buried";
    },
    *news() {
      // Read here and not in an event: after a pause, code may run before any event is told.
      for (;;) {
        const next = receiveMessageOnPort(mine) as { readonly message: KeeperEvent } | undefined;
        if (next === undefined) break;
        yield next.message;
      }
      if (state !== "died") return;
      state = "buried";
      yield "disconnected";
    },
    stop() {
      state = "stopped";
      void thread.terminate();
    },
  };
}

/**
 * Extends tickets while a debugger has stopped this process. The keeper is a thread with its own connection, which keeps running.
 * The bus sees a slow worker and does not redeliver the ticket. When the process dies, the thread dies with it, and the ticket
 * is redelivered as usual.
 */
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from "node:worker_threads";
import type { BusAddress } from "../nats/connect.ts";

/** An extension that the bus has confirmed, or the end of the keeper's connection. */
export type KeeperEvent =
  /** `sent` is in milliseconds of this thread's `performance.now()`. */
  { readonly reply: string; readonly sent: number } | "disconnected";

/** A command to the thread: start or stop extending the delivery with this reply subject. */
export type KeeperCommand = { readonly keep: string } | { readonly drop: string };

/** Start parameters of the thread. */
export interface KeeperData {
  readonly address: BusAddress;
  readonly everyMillis: number;
  /** The value of `process.hrtime`, in milliseconds, at which `performance.now()` of the main thread is 0. */
  readonly epochMillis: number;
  readonly events: MessagePort;
}

/** Extends tickets from another thread. */
export interface Keeper {
  keep(reply: string): void;
  drop(reply: string): void;
  /** Whether its thread has died and no longer extends tickets. */
  readonly isGone: boolean;
  /** The events since the last call, in order. Read them before judging a ticket by its age. */
  events(): Iterable<KeeperEvent>;
  stop(): void;
}

/** Logged by a worker that has a keeper. */
export const debuggedWarning = "running under a debugger: this worker keeps its tickets while it is stopped";

/** Logged when the keeper of a worker has died. */
export const keeperGone =
  "the keeper thread has died: if a debugger stops this worker for longer than DENREI_ACK_WAIT_SECONDS, other workers get its " +
  "tickets. Restart the worker to keep them";

/**
 * Starts a keeper; resolves when it is connected. Rejects like `connectBus`. Calls `onGone` if the thread dies later, which also
 * counts as the end of its connection.
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
  let state: "running" | "stopped" | "died" | "reported" = "running";
  let cause = new Error("the keeper thread ended unexpectedly");
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
  const send = (command: KeeperCommand): void => thread.postMessage(command);
  return {
    keep: (reply) => send({ keep: reply }),
    drop: (reply) => send({ drop: reply }),
    get isGone() {
      return state === "died" || state === "reported";
    },
    *events() {
      // Polled, not pushed: after a pause, code may run before any message callback.
      for (;;) {
        const next = receiveMessageOnPort(mine) as { readonly message: KeeperEvent } | undefined;
        if (next === undefined) break;
        yield next.message;
      }
      if (state !== "died") return;
      state = "reported";
      yield "disconnected";
    },
    stop() {
      state = "stopped";
      void thread.terminate();
    },
  };
}

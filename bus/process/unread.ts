/** Answers that their receivers do not read. They hold memory, a connection, and often a connection to the API server. */
import type { Server } from "node:http";
import type { Socket } from "node:net";

/** A receiver that reads nothing for this long is closed. Milliseconds. */
export const unreadMillis = 20_000;
/** Number of checks in a row that must find no progress: after a pause of the process, a single one would. */
const looks = 4;

/** The object that Node's sockets wrap. Only it reports how much of one write was sent. */
interface Handle {
  /** Bytes given to the socket, and bytes that the kernel has not accepted. */
  readonly bytesWritten: number;
  readonly writeQueueSize: number;
}

interface Progress {
  sent: number;
  looks: number;
}

/** Calls back with each open socket of a server that accepted no data for `millis`, until the server closes. */
export function watchUnread(
  server: Server,
  open: () => Iterable<Socket>,
  millis: number,
  onUnread: (socket: Socket) => void,
): void {
  const stalled = new WeakMap<Socket, Progress>();
  const timer = setInterval(() => {
    for (const socket of open()) {
      const { bytesWritten, writeQueueSize } = handleOf(socket) ?? { bytesWritten: 0, writeQueueSize: 0 };
      const sent = bytesWritten - writeQueueSize;
      const before = stalled.get(socket);
      if (writeQueueSize === 0) stalled.delete(socket);
      else if (before?.sent !== sent) stalled.set(socket, { sent, looks: 0 });
      else if (++before.looks >= looks) onUnread(socket);
    }
  }, millis / looks);
  timer.unref();
  server.once("close", () => clearInterval(timer));
}

const handleOf = (socket: Socket): Handle | null | undefined =>
  (socket as unknown as { readonly _handle?: Handle | null })._handle;

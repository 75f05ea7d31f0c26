/** Answers that their receivers do not read: they hold memory, a connection, and often one to the API server. */
import type { Server } from "node:http";
import type { Socket } from "node:net";

/** A receiver that takes nothing for so long does not read. Milliseconds. */
export const unreadMillis = 20_000;
/** So many looks in a row must find no progress: after a pause of the process, one alone would. */
const looks = 4;

/** What Node's sockets wrap. Only this tells how much of one write is sent. */
interface Handle {
  /** Bytes that the socket was given to send, and those that the kernel has not taken. */
  readonly bytesWritten: number;
  readonly writeQueueSize: number;
}

interface Progress {
  sent: number;
  looks: number;
}

/** Calls back with each open socket of a server to which nothing could be sent for `millis`, until the server closes. */
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

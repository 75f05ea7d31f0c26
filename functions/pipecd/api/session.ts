/**
 * A connection to a server whose pods are replaced now and then. A pod that is to end goes on answering those that are
 * connected to it, with the configuration that it started with: calls that begin after the rollout need another connection.
 */
import type { Http2SessionManager } from "@connectrpc/connect-node";

/** How long names may still resolve to pods that are to end, after a rollout. Milliseconds. */
export const settleMillis = 10_000;

/** How a session opens connections. */
export interface SessionOptions {
  readonly open: () => Http2SessionManager;
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number;
}

/** One connection at a time for new calls. Calls in flight end on the connection that they began on. */
export interface Session
  extends Pick<Http2SessionManager, "authority" | "request" | "notifyResponseByteRead"> {
  /** Makes later calls use a new connection if the server's pods are others than before. Does nothing where that is unknown. */
  renew(revision: string | undefined): void;
}

interface Line {
  readonly manager: Http2SessionManager;
  readonly openedAt: number;
  /** Calls that have begun and not ended. */
  calls: number;
  isReplaced: boolean;
}

/** Opens no connection before the first call. */
export function openSession({ open, now = () => performance.now() }: SessionOptions): Session {
  const newLine = (): Line => ({ manager: open(), openedAt: now(), calls: 0, isReplaced: false });
  let line = newLine();
  let revision: string | undefined;
  let settledAt = Number.NEGATIVE_INFINITY;
  const { authority } = line.manager;
  /** Those with calls in flight that began before the last replacement. */
  const draining = new Set<Line>();

  function replace(): void {
    line.isReplaced = true;
    draining.add(line);
    closeUnused(line);
    line = newLine();
  }

  function closeUnused(one: Line): void {
    if (!one.isReplaced || one.calls > 0) return;
    draining.delete(one);
    one.manager.abort();
  }

  return {
    authority,
    renew(latest) {
      if (latest === undefined || latest === revision) return;
      revision = latest;
      settledAt = now() + settleMillis;
      replace();
    },
    async request(...args) {
      if (line.openedAt < settledAt && now() >= settledAt) replace();
      const used = line;
      used.calls++;
      const ended = () => {
        used.calls--;
        closeUnused(used);
      };
      try {
        const stream = await used.manager.request(...args);
        if (stream.closed) ended();
        else stream.once("close", ended);
        return stream;
      } catch (error) {
        ended();
        throw error;
      }
    },
    notifyResponseByteRead(stream) {
      for (const { manager } of [line, ...draining]) manager.notifyResponseByteRead(stream);
    },
  };
}

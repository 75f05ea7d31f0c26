/**
 * A connection to a server whose pods are replaced by rollouts. A terminating pod keeps answering its connections with its old
 * configuration, so calls that start after the rollout need a new connection.
 */
import type { Http2SessionManager } from "@connectrpc/connect-node";

/** How long after a rollout names may still resolve to terminating pods. Milliseconds. */
export const settleMillis = 10_000;

/** Options of {@link openSession}. */
export interface SessionOptions {
  readonly open: () => Http2SessionManager;
  /** A monotonic clock. Milliseconds. */
  readonly now?: () => number;
}

/** One connection at a time for new calls. Calls in flight end on the connection on which they started. */
export interface Session
  extends Pick<Http2SessionManager, "authority" | "request" | "notifyResponseByteRead"> {
  /** Makes later calls use a new connection if the revision has changed. Does nothing for an unknown revision. */
  renew(revision: string | undefined): void;
}

interface Line {
  readonly manager: Http2SessionManager;
  readonly openedAt: number;
  /** Calls in flight. */
  calls: number;
  isReplaced: boolean;
}

/** Creates a session, which connects at the first call. */
export function openSession({ open, now = () => performance.now() }: SessionOptions): Session {
  const newLine = (): Line => ({ manager: open(), openedAt: now(), calls: 0, isReplaced: false });
  let line = newLine();
  let revision: string | undefined;
  let settledAt = Number.NEGATIVE_INFINITY;
  const { authority } = line.manager;
  /** Replaced connections with calls in flight. */
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

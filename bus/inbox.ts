/**
 * Questions and their answers over one subscription. The client library's own request prepares an error with a stack for
 * every call, lest it fail: three times the CPU of all the rest, on the path of every ticket and every event.
 */
import { createInbox, errors, type Msg, type MsgHdrs, type NatsConnection } from "@nats-io/transport-node";

/** How to ask. */
export interface AskOptions {
  readonly headers?: MsgHdrs | undefined;
  /** How long all answers together may take, in milliseconds. Default: 5 seconds. */
  readonly timeoutMillis?: number;
}

/** Where the answers of one process arrive. */
export interface Inbox {
  /**
   * Asks and resolves with the one answer. Rejects with the client library's `TimeoutError`, `NoRespondersError`,
   * `DisconnectedError` (the question may have been heard, and its answer is lost) or `ClosedConnectionError`.
   */
  request(subject: string, data: string, options?: AskOptions): Promise<Msg>;
  /** Asks and hands over answers until one of them is the last. Rejects as {@link Inbox.request} does, or with what `receive` throws. */
  collect(
    subject: string,
    data: string,
    receive: (answer: Msg) => "more" | "last",
    options?: AskOptions,
  ): Promise<void>;
}

/** The connection broke while an answer was awaited. */
export class DisconnectedError extends Error {
  override readonly name = "DisconnectedError";
}

interface Question {
  readonly receive: (answer: Msg) => void;
  readonly fail: (error: Error) => void;
}

const timeoutMillis = 5000;

/** Opens the inbox of a connection; it is closed with it. */
export function openInbox(nc: NatsConnection): Inbox {
  const prefix = createInbox();
  const asked = new Map<string, Question>();
  let nextId = 0;

  const failAll = (error: Error): void => {
    for (const { fail } of asked.values()) fail(error);
  };

  nc.subscribe(`${prefix}.*`, {
    callback(error, answer) {
      if (error === null) asked.get(answer.subject.slice(prefix.length + 1))?.receive(answer);
    },
  });
  void (async () => {
    for await (const { type } of nc.status()) {
      if (type === "disconnect")
        failAll(new DisconnectedError("the connection broke before the answer came"));
    }
    failAll(new errors.ClosedConnectionError());
  })();

  /** `receive` returns whether it was the last answer. */
  function ask(
    subject: string,
    data: string,
    options: AskOptions,
    receive: (answer: Msg) => boolean,
    fail: (error: unknown) => void,
  ): void {
    const id = String(nextId++);
    const end = (): void => {
      asked.delete(id);
      clearTimeout(timer);
    };
    const refuse = (error: unknown): void => {
      end();
      fail(error);
    };
    const timer = setTimeout(() => refuse(new errors.TimeoutError()), options.timeoutMillis ?? timeoutMillis);
    asked.set(id, {
      fail: refuse,
      receive(answer) {
        if (answer.headers?.code === 503) return refuse(new errors.NoRespondersError(subject));
        try {
          if (receive(answer)) end();
        } catch (error) {
          refuse(error);
        }
      },
    });
    try {
      const reply = `${prefix}.${id}`;
      nc.publish(subject, data, options.headers ? { reply, headers: options.headers } : { reply });
    } catch (error) {
      refuse(error);
    }
  }

  return {
    request: (subject, data, options = {}) =>
      new Promise((resolve, reject) => {
        const receive = (answer: Msg): true => {
          resolve(answer);
          return true;
        };
        ask(subject, data, options, receive, reject);
      }),
    collect: (subject, data, receive, options = {}) =>
      new Promise((resolve, reject) => {
        const each = (answer: Msg): boolean => {
          const last = receive(answer) === "last";
          if (last) resolve();
          return last;
        };
        ask(subject, data, options, each, reject);
      }),
  };
}

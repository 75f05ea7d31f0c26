/**
 * Questions and their answers over one subscription. The client library's own request prepares an error with a stack for
 * every call, lest it fail: three times the CPU of all the rest, on the path of every ticket and every event.
 */
import {
  createInbox,
  errors,
  type Msg,
  type MsgHdrs,
  type NatsConnection,
  type Payload,
} from "@nats-io/transport-node";
import { readableHeaders } from "./headers.ts";
import type { Identity } from "./identity.ts";
import { BusPermissionError, watchDenials } from "./permissionerror.ts";

/** How to ask. */
export interface AskOptions {
  readonly headers?: MsgHdrs | undefined;
  /** How long all answers together may take, in milliseconds. Default: 5 seconds. */
  readonly timeoutMillis?: number;
}

/** Where the answers of one process arrive. */
export interface Inbox {
  /** A subject of one's own, below which nobody else may listen. */
  create(): string;
  /**
   * Asks and resolves with the one answer. Rejects with the client library's `TimeoutError`, `NoRespondersError`,
   * `DisconnectedError` (the question may have been heard, and its answer is lost), `ClosedConnectionError`, or with a
   * `BusPermissionError` when the question may not be asked.
   */
  request(subject: string, data: Payload, options?: AskOptions): Promise<Msg>;
  /** Asks and hands over answers until one of them is the last. Rejects as {@link Inbox.request} does, or with what `receive` throws. */
  collect(
    subject: string,
    data: string,
    receive: (answer: Msg) => "more" | "last",
    options?: AskOptions,
  ): Promise<void>;
  /** Calls back whenever the server refuses what is published on this subject; returns how to stop that. */
  onDenied(subject: string, callback: (denied: BusPermissionError) => void): () => void;
}

/** The connection broke while an answer was awaited. */
export class DisconnectedError extends Error {
  override readonly name = "DisconnectedError";
}

interface Question {
  readonly subject: string;
  readonly receive: (answer: Msg) => void;
  readonly fail: (error: Error) => void;
}

const timeoutMillis = 5000;

/** The client library's error says no more than `timeout`. */
function unanswered(subject: string, millis: number): Error {
  const error = new errors.TimeoutError();
  error.message = `timeout: ${subject} was not answered within ${millis} ms`;
  Error.captureStackTrace(error, unanswered);
  return error;
}

/** Opens the inbox of a connection; it is closed with it. */
export function openInbox(nc: NatsConnection, { user, inboxPrefix }: Identity): Inbox {
  const create = () => createInbox(inboxPrefix);
  const prefix = create();
  const asked = new Map<string, Question>();
  const deniedTo = new Set<(denied: BusPermissionError) => void>();
  /** Why no answer can arrive here. */
  let deaf: Error | undefined;
  let nextId = 0;

  const failAll = (error: Error): void => {
    for (const { fail } of [...asked.values()]) fail(error);
  };

  nc.subscribe(`${prefix}.*`, {
    callback(error, answer) {
      if (error === null) return asked.get(answer.subject.slice(prefix.length + 1))?.receive(answer);
      deaf = error instanceof errors.PermissionViolationError ? new BusPermissionError(user, error) : error;
      failAll(deaf);
    },
  });
  void watchDenials(nc, user, (denied) => {
    if (denied.operation !== "publish") return;
    for (const { subject, fail } of [...asked.values()]) if (subject === denied.subject) fail(denied);
    for (const callback of deniedTo) callback(denied);
  });
  void (async () => {
    for await (const { type } of nc.status()) {
      // What is published while there is no connection is thrown away by the library's next attempt at one.
      if (type === "disconnect" || type === "reconnecting")
        failAll(new DisconnectedError("the connection broke before the answer came"));
    }
    failAll(new errors.ClosedConnectionError());
  })();

  /** `receive` returns whether it was the last answer. */
  function ask(
    subject: string,
    data: Payload,
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
    const millis = options.timeoutMillis ?? timeoutMillis;
    const timer = setTimeout(() => refuse(unanswered(subject, millis)), millis);
    asked.set(id, {
      subject,
      fail: refuse,
      receive(answer) {
        if (readableHeaders(answer)?.code === 503) return refuse(new errors.NoRespondersError(subject));
        try {
          if (receive(answer)) end();
        } catch (error) {
          refuse(error);
        }
      },
    });
    try {
      if (deaf !== undefined) throw deaf;
      const reply = `${prefix}.${id}`;
      nc.publish(subject, data, options.headers ? { reply, headers: options.headers } : { reply });
    } catch (error) {
      refuse(error);
    }
  }

  return {
    create,
    onDenied(subject, callback) {
      const listener = (denied: BusPermissionError): void => {
        if (denied.subject === subject) callback(denied);
      };
      deniedTo.add(listener);
      return () => deniedTo.delete(listener);
    },
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

/**
 * The connection as the client library's JetStream is to use it: its questions go through the inbox. By itself the library
 * waits out its time for an answer that was lost with the connection, five seconds, in which a lease is lost, too.
 */
export function askingThrough(inbox: Inbox, nc: NatsConnection): NatsConnection {
  const request: NatsConnection["request"] = async (subject, data = "", options) => {
    try {
      return await inbox.request(subject, data, {
        headers: options?.headers,
        ...(options?.timeout !== undefined && { timeoutMillis: options.timeout }),
      });
    } catch (error) {
      // As the library has it, which looks for this one.
      if (error instanceof errors.NoRespondersError)
        throw new errors.RequestError(error.message, { cause: error });
      throw error;
    }
  };
  return Object.create(nc, { request: { value: request } });
}

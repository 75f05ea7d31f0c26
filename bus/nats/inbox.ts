/**
 * Requests and responses over one subscription. The client library's own request captures a stack trace for every call,
 * in case it fails. That takes three times the CPU of everything else, on the path of every ticket and event.
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

/** Options of a request. */
export interface AskOptions {
  readonly headers?: MsgHdrs | undefined;
  /** Timeout for all responses together, in milliseconds. Default: 5 seconds. */
  readonly timeoutMillis?: number;
}

/** Receives the responses for one process. */
export interface Inbox {
  /** Creates a subject under the user's inbox prefix. Other users may not subscribe to it. */
  create(): string;
  /**
   * Sends a request and resolves with its one response. Rejects with the client library's `TimeoutError`,
   * `NoRespondersError`, `DisconnectedError` (the request may have arrived, and its response is lost),
   * `ClosedConnectionError`, or with a `BusPermissionError` if the user may not publish on the subject.
   */
  request(subject: string, data: Payload, options?: AskOptions): Promise<Msg>;
  /** Sends a request and passes on the responses until `receive` returns `last`. Rejects like {@link Inbox.request}, or with an error of `receive`. */
  collect(
    subject: string,
    data: string,
    receive: (answer: Msg) => "more" | "last",
    options?: AskOptions,
  ): Promise<void>;
  /** Calls back when the server denies a publish on this subject. Returns the function that unsubscribes. */
  onDenied(subject: string, callback: (denied: BusPermissionError) => void): () => void;
}

/** The connection broke before the response arrived. */
export class DisconnectedError extends Error {
  override readonly name = "DisconnectedError";
}

interface Question {
  readonly subject: string;
  readonly receive: (answer: Msg) => void;
  readonly fail: (error: Error) => void;
}

const timeoutMillis = 5000;

/** The client library's error has only the message `timeout`. */
function unanswered(subject: string, millis: number): Error {
  const error = new errors.TimeoutError();
  error.message = `timeout: ${subject} was not answered within ${millis} ms`;
  Error.captureStackTrace(error, unanswered);
  return error;
}

/** Opens the inbox of a connection. It closes with the connection. */
export function openInbox(nc: NatsConnection, { user, inboxPrefix }: Identity): Inbox {
  const create = () => createInbox(inboxPrefix);
  const prefix = create();
  const asked = new Map<string, Question>();
  const deniedTo = new Set<(denied: BusPermissionError) => void>();
  /** Set if the inbox's subscription failed: no response can arrive. */
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
      // The library discards messages that are published while disconnected.
      if (type === "disconnect" || type === "reconnecting")
        failAll(new DisconnectedError("the connection broke before the answer came"));
    }
    failAll(new errors.ClosedConnectionError());
  })();

  /** `receive` returns true for the last response. */
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
 * Wraps the connection for the client library's JetStream, so that its requests go through the inbox. The library alone
 * waits five seconds for a response that was lost with the connection, and within that time a lease is lost, too.
 */
export function askingThrough(inbox: Inbox, nc: NatsConnection): NatsConnection {
  const request: NatsConnection["request"] = async (subject, data = "", options) => {
    try {
      return await inbox.request(subject, data, {
        headers: options?.headers,
        ...(options?.timeout !== undefined && { timeoutMillis: options.timeout }),
      });
    } catch (error) {
      // The library checks for this error class.
      if (error instanceof errors.NoRespondersError)
        throw new errors.RequestError(error.message, { cause: error });
      throw error;
    }
  };
  return Object.create(nc, { request: { value: request } });
}

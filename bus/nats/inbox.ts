/**
 * Requests and responses over one subscription. The client library's own request captures a stack trace for every call, in
 * case it fails. That takes three times the CPU of the rest of the call, and every ticket and event needs such calls.
 */
import {
  createInbox,
  errors,
  type Msg,
  type MsgHdrs,
  type NatsConnection,
  type Payload,
} from "@nats-io/transport-node";
import { BriefMap } from "../values/briefmap.ts";
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

/** A request that waits for responses. */
interface PendingRequest {
  readonly subject: string;
  readonly receive: (answer: Msg) => void;
  readonly fail: (error: Error) => void;
}

const timeoutMillis = 5000;
/** Ids start again after so many, long after the earlier requests have ended. */
const ids = 2 ** 31;

/** The client library's error has only the message `timeout`. */
function unanswered(subject: string, millis: number): Error {
  const error = new errors.TimeoutError();
  error.message = `timeout: ${subject} was not answered within ${millis} ms`;
  Error.captureStackTrace(error, unanswered);
  return error;
}

/** Opens the inbox of a connection. It closes with the connection. */
export function openInbox(nc: NatsConnection, identity: Identity): Inbox {
  const inbox = new ConnectionInbox(nc, identity);
  return {
    create: () => inbox.create(),
    request: (subject, data, options) => inbox.request(subject, data, options),
    collect: (subject, data, receive, options) => inbox.collect(subject, data, receive, options),
    onDenied: (subject, callback) => inbox.onDenied(subject, callback),
  };
}

class ConnectionInbox implements Inbox {
  readonly #nc: NatsConnection;
  readonly #identity: Identity;
  /** Responses arrive on this subject, followed by the id of their request. */
  readonly #responses: string;
  /** By id. */
  readonly #pending = new BriefMap<PendingRequest>();
  readonly #denialListeners = new Set<(denied: BusPermissionError) => void>();
  /** Set if the subscription to responses failed: none can arrive. */
  #broken: Error | undefined;
  #nextId = 0;

  constructor(nc: NatsConnection, identity: Identity) {
    this.#nc = nc;
    this.#identity = identity;
    this.#responses = this.create();
    nc.subscribe(`${this.#responses}.*`, {
      callback: (error, answer) => (error === null ? this.#receive(answer) : this.#break(error)),
    });
    void watchDenials(nc, identity.user, (denied) => this.#denied(denied));
    void this.#watchConnection();
  }

  create(): string {
    return createInbox(this.#identity.inboxPrefix);
  }

  request(subject: string, data: Payload, options?: AskOptions): Promise<Msg> {
    return new Promise((resolve, reject) => {
      const receive = (answer: Msg) => {
        resolve(answer);
        return "last" as const;
      };
      this.#send(subject, data, options, receive, reject);
    });
  }

  collect(
    subject: string,
    data: string,
    receive: (answer: Msg) => "more" | "last",
    options?: AskOptions,
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      const receiveNext = (answer: Msg) => {
        const position = receive(answer);
        if (position === "last") resolve();
        return position;
      };
      this.#send(subject, data, options, receiveNext, reject);
    });
  }

  onDenied(subject: string, callback: (denied: BusPermissionError) => void): () => void {
    const listener = (denied: BusPermissionError): void => {
      if (denied.subject === subject) callback(denied);
    };
    this.#denialListeners.add(listener);
    return () => this.#denialListeners.delete(listener);
  }

  /** Sends a request, and passes on its responses until the last one, or until it fails. */
  #send(
    subject: string,
    data: Payload,
    options: AskOptions | undefined,
    receive: (answer: Msg) => "more" | "last",
    reject: (error: unknown) => void,
  ): void {
    const id = this.#nextId;
    this.#nextId = (id + 1) % ids;
    const end = (): void => {
      this.#pending.delete(id);
      clearTimeout(timer);
    };
    const fail = (error: unknown): void => {
      end();
      reject(error);
    };
    const millis = options?.timeoutMillis ?? timeoutMillis;
    const timer = setTimeout(() => fail(unanswered(subject, millis)), millis);
    this.#pending.set(id, {
      subject,
      fail,
      receive(answer) {
        if (readableHeaders(answer)?.code === 503) return fail(new errors.NoRespondersError(subject));
        try {
          if (receive(answer) === "last") end();
        } catch (error) {
          fail(error);
        }
      },
    });
    try {
      this.#publish(id, subject, data, options?.headers);
    } catch (error) {
      fail(error);
    }
  }

  #publish(id: number, subject: string, data: Payload, headers: MsgHdrs | undefined): void {
    if (this.#broken !== undefined) throw this.#broken;
    const reply = `${this.#responses}.${id}`;
    this.#nc.publish(subject, data, headers ? { reply, headers } : { reply });
  }

  #receive(answer: Msg): void {
    this.#pending.get(Number(answer.subject.slice(this.#responses.length + 1)))?.receive(answer);
  }

  #break(error: Error): void {
    const isDenied = error instanceof errors.PermissionViolationError;
    this.#broken = isDenied ? new BusPermissionError(this.#identity.user, error) : error;
    this.#failAll(this.#broken);
  }

  #denied(denied: BusPermissionError): void {
    if (denied.operation !== "publish") return;
    for (const { subject, fail } of this.#pending.values()) if (subject === denied.subject) fail(denied);
    for (const listener of this.#denialListeners) listener(denied);
  }

  async #watchConnection(): Promise<void> {
    for await (const { type } of this.#nc.status()) {
      // The library discards messages that are published while disconnected.
      if (type === "disconnect" || type === "reconnecting")
        this.#failAll(new DisconnectedError("the connection broke before the answer came"));
    }
    this.#failAll(new errors.ClosedConnectionError());
  }

  #failAll(error: Error): void {
    for (const { fail } of this.#pending.values()) fail(error);
  }
}

/**
 * Wraps the connection for the client library's JetStream, so that its requests go through the inbox. The library alone
 * waits five seconds for a response that was lost with the connection: long enough to lose a lease, too.
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

/** A request whose answer is read at once. undici's `request` builds a stream for each body, which costs more than a small answer. */
import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";

/** A request for {@link exchange}. */
export interface ExchangeOptions extends Omit<Dispatcher.DispatchOptions, "origin" | "path"> {
  readonly signal?: AbortSignal | undefined;
}

/** A complete answer. */
export interface Answer {
  readonly statusCode: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/**
 * Sends a request and reads its answer as UTF-8. `onStatus` is called when the answer begins. Throws the reason of an aborted
 * signal, and errors of the connection as undici does.
 */
export function exchange(
  dispatcher: Dispatcher,
  url: string,
  { signal, ...options }: ExchangeOptions,
  onStatus: (statusCode: number) => void,
): Promise<Answer> {
  const { origin, pathname, search } = new URL(url);
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const reader = new AnswerReader(onStatus, signal, resolve, reject);
    dispatcher.dispatch({ ...options, origin, path: pathname + search }, reader);
  });
}

class AnswerReader implements Dispatcher.DispatchHandler {
  readonly #onStatus: (statusCode: number) => void;
  readonly #signal: AbortSignal | undefined;
  readonly #resolve: (answer: Answer) => void;
  readonly #reject: (error: unknown) => void;
  readonly #abort = () => this.#end(this.#signal?.reason);
  readonly #chunks: Buffer[] = [];
  #controller: Dispatcher.DispatchController | undefined;
  #statusCode = 0;
  #headers: IncomingHttpHeaders = {};

  constructor(
    onStatus: (statusCode: number) => void,
    signal: AbortSignal | undefined,
    resolve: (answer: Answer) => void,
    reject: (error: unknown) => void,
  ) {
    this.#onStatus = onStatus;
    this.#signal = signal;
    this.#resolve = resolve;
    this.#reject = reject;
    signal?.addEventListener("abort", this.#abort, { once: true });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // The request waited for a connection, and was aborted meanwhile.
    if (this.#signal?.aborted) controller.abort(this.#signal.reason);
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: IncomingHttpHeaders,
  ): void {
    // Informational: the answer follows.
    if (statusCode < 200) return;
    this.#statusCode = statusCode;
    this.#headers = headers;
    this.#onStatus(statusCode);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    this.#signal?.removeEventListener("abort", this.#abort);
    const [first, ...more] = this.#chunks;
    const body = more.length === 0 ? first : Buffer.concat(this.#chunks);
    this.#resolve({
      statusCode: this.#statusCode,
      headers: this.#headers,
      text: body?.toString() ?? "",
    });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#end(error);
  }

  /** Ends the request early. */
  #end(error: unknown): void {
    this.#signal?.removeEventListener("abort", this.#abort);
    this.#reject(error);
    if (this.#signal?.aborted) this.#controller?.abort(this.#signal.reason);
  }
}

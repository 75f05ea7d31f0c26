/** Answers the gateway's requests over HTTP, and records each answer in its metrics and its log. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { finished } from "node:stream/promises";
import type { Logger } from "pino";
import { Counter, Histogram, type Registry } from "prom-client";
import type { SelectedEvent } from "../webhooks/sharedselection.ts";
import type { Answer, Receive } from "./receiver.ts";

/** The label in metrics for requests without a provider, or without an event that a function selects. */
const other = "other";

/** How much of the path of a refused request is logged. */
const loggedCharacters = 200;

/** Options of a {@link Responder}. */
export interface ResponderOptions {
  readonly receive: Receive;
  /** The events that functions select. */
  readonly events: readonly SelectedEvent[];
  /** Limit from a request's headers to its answer, in milliseconds. */
  readonly answerMillis: number;
  readonly log: Logger;
  readonly registry: Registry;
}

/** Answers requests until its gateway has stopped. */
export class Responder {
  readonly #options: ResponderOptions;
  readonly #metrics: ReturnType<typeof gatewayMetrics>;
  #stopping = false;

  constructor(options: ResponderOptions) {
    this.#options = options;
    this.#metrics = gatewayMetrics(options.registry, options.events);
  }

  /** From now on, each answer closes its connection. */
  stop(): void {
    this.#stopping = true;
  }

  /** Answers one request. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { receive, answerMillis, log } = this.#options;
    const started = performance.now();
    let answer: Answer;
    try {
      answer = await receive(request, started + answerMillis);
    } catch (error) {
      log.error({ err: error }, "failed to answer a request");
      answer = { status: 500, outcome: "failed", text: "failed: send it again" };
    }
    const { status, outcome, provider = other, event = other } = answer;
    this.#metrics.requests.inc({ provider, event, outcome, code: status });
    this.#metrics.duration.observe((performance.now() - started) / 1000);
    logAnswer(log, request, answer);
    await this.#respond(request, response, answer);
  }

  async #respond(request: IncomingMessage, response: ServerResponse, answer: Answer): Promise<void> {
    const { status, signed = false } = answer;
    const text = `${answer.text}\n`;
    response.writeHead(status, {
      "content-type": "text/plain; charset=utf-8",
      "content-length": Buffer.byteLength(text),
      "x-content-type-options": "nosniff",
      // Only a signed request keeps its connection. No request can follow one that was not read to its end.
      ...((this.#stopping || !signed || !request.complete) && { connection: "close" }),
      ...answer.headers,
    });
    if (request.complete) return void response.end(text);
    // Closing now could discard the answer before a sender that is still sending has read it.
    response.write(text);
    await pastEnd(request);
    response.end();
  }
}

/** Discards the rest of a request, within the request's time limit. */
const pastEnd = (request: IncomingMessage): Promise<void> =>
  finished(request.resume()).catch(() => undefined);

/** The path that a stranger has chosen, for a log that a terminal may show. The query may contain a secret. */
const pathOf = (url: string): string =>
  (url.split("?", 1)[0] ?? "").slice(0, loggedCharacters).replace(/[^!-~]/g, "?");

/** Logs failures of signed requests as warnings. Requests from strangers must not fill the log. */
function logAnswer(log: Logger, { method, url = "", socket }: IncomingMessage, answer: Answer): void {
  const { status, outcome, provider, event, delivery, detail } = answer;
  if (detail === undefined && !log.isLevelEnabled("debug")) return;
  const request = provider === undefined ? `${method} ${pathOf(url)}` : undefined;
  const from = socket.remoteAddress;
  const record = { status, outcome, provider, event, delivery, detail, request, from };
  if (detail !== undefined) log.warn(record, "webhook not accepted");
  else log.debug(record, "webhook");
}

function gatewayMetrics(registry: Registry, events: readonly SelectedEvent[]) {
  const registers = [registry];
  const requests = new Counter({
    name: "denrei_gateway_requests_total",
    help: 'Requests, by provider, event ("other" if no function selects it), outcome, and status code.',
    labelNames: ["provider", "event", "outcome", "code"] as const,
    registers,
  });
  // Start the counters of alerts at 0, so that their first increase is visible.
  for (const { provider, event } of events) {
    requests.inc({ provider, event, outcome: "not_stored", code: 503 }, 0);
    requests.inc({ provider, event, outcome: "oversized", code: 413 }, 0);
  }
  const unknown = { provider: other, event: other };
  requests.inc({ ...unknown, outcome: "busy", code: 503 }, 0);
  requests.inc({ ...unknown, outcome: "failed", code: 500 }, 0);
  requests.inc({ ...unknown, outcome: "unsigned", code: 401 }, 0);
  return {
    requests,
    duration: new Histogram({
      name: "denrei_gateway_request_seconds",
      help: "Time from the headers of a request to its answer.",
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
  };
}

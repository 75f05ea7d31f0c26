/**
 * The gateway: publishes webhooks as CloudEvents on the bus. Replicas are independent of each other, and need no access to
 * Kubernetes.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { Server as TcpServer } from "node:net";
import { finished } from "node:stream/promises";
import type { Logger } from "pino";
import { Counter, Histogram, type Registry } from "prom-client";
import { webhookEventNames } from "../events/github/payloads.ts";
import type { Bus } from "../nats/connect.ts";
import { startProcessClock } from "../process/clock.ts";
import { type Connections, defaultConnections, limitConnections } from "../process/connections.ts";
import { listenOn } from "../process/listen.ts";
import { unreadMillis } from "../process/unread.ts";
import { streams } from "../subjects.ts";
import { type BusOptions, ensureWebhooks } from "../topology.ts";
import { turnEnd } from "../values/eventloop.ts";
import { OversizedDeliveryError, storeDelivery } from "../webhooks/deliveries.ts";
import { type BudgetLimits, defaultBudget, openBudget } from "./budget.ts";
import { type Answer, receiver } from "./receiver.ts";
import { openSecrets } from "./secrets.ts";

/** Options of {@link startGateway}. */
export interface GatewayOptions {
  readonly bus: Bus;
  readonly busOptions: BusOptions;
  /** `host:port`; port 0 takes any free one. */
  readonly webhookAddress: string;
  /** Path under which hooks are served. */
  readonly webhookPath: string;
  /** Folder with a file of secrets per hook. */
  readonly webhookSecrets: string;
  readonly log: Logger;
  readonly registry: Registry;
  readonly budget?: BudgetLimits;
  /** Maximum number of connections. Default: {@link defaultConnections}. */
  readonly connections?: number;
  /** Overrides {@link defaultTimes}. */
  readonly times?: Partial<GatewayTimes>;
  /** Distinguishes redeliveries from repetitions. Default: the clock of the bus. Milliseconds since the epoch. */
  readonly now?: () => number;
}

/** Time limits and intervals, in milliseconds. */
export interface GatewayTimes {
  /** Limits for the headers of a request, and for the whole request. */
  readonly headers: number;
  readonly request: number;
  /** Interval of the check for requests that take too long. */
  readonly look: number;
  /** Limit for storing an event. */
  readonly store: number;
  /** After this time a sender's connection or memory may be given to others when there is no more. */
  readonly grace: number;
  /** Limit for a receiver that reads nothing of an answer. */
  readonly unread: number;
  /** Limit for everything, from a request's headers to its answer. */
  readonly answer: number;
  /** At a stop: time for a request that is on its way on a kept connection. */
  readonly linger: number;
  /** Interval at which secrets are read again. It has to be shorter than the time in which a user enters a new one at GitHub. */
  readonly reread: number;
}

/** GitHub waits ten seconds for an answer, so these limits guarantee one in time. */
const defaultTimes: GatewayTimes = {
  headers: 5_000,
  request: 8_000,
  look: 500,
  store: 5_000,
  grace: 1_000,
  unread: unreadMillis,
  answer: 9_000,
  linger: 500,
  reread: 2_000,
};

/** A listening gateway. */
export interface Gateway {
  /** URL under which hooks are served: `http://127.0.0.1:8080/github`. */
  readonly url: string;
  /** Why the bus failed to store something a moment ago, or why connections are refused. */
  notReady(): string | undefined;
  /** Accepts no more connections. Answers requests that have started, or that arrive within a moment on a kept connection. */
  stop(): Promise<void>;
}

/** The event label in metrics for requests without a supported event. */
const otherEvent = "other";
/** How long a failure to store makes this replica unready, so that others get the requests. Milliseconds. */
const troubledMillis = 5_000;

/** Starts a gateway. Resolves when it listens. Throws a `ConfigError` without secrets, and `AddressError`. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { bus, log, registry } = options;
  const times = { ...defaultTimes, ...options.times };
  await ensureWebhooks(bus, options.busOptions);
  const ending = new AbortController();
  const { signal } = ending;
  const clock = await startProcessClock({ bus, stream: streams.webhooks, signal, log, registry });
  const { now = clock.now } = options;
  const secrets = await openSecrets(options.webhookSecrets, log, times.reread);
  const metrics = gatewayMetrics(options.registry);
  const budget = options.budget ?? defaultBudget;
  let failed: { readonly at: number; readonly reason: string } | undefined;
  let stopping = false;
  const endOfTurn = turnEnd();

  const receive = receiver({
    path: options.webhookPath,
    secretsOf: secrets.of,
    bodyLimit: budget.body,
    room: openBudget(budget, times.grace),
    signed: (request) => connections.prove(request),
    async store(at, event, answerBy) {
      const left = Math.max(0, Math.ceil(answerBy - performance.now()));
      // Unlike the timer of a timeout signal, this one ends with the request.
      const late = new AbortController();
      const timer = setTimeout(() => late.abort(), Math.min(times.store, left));
      try {
        await endOfTurn();
        const stored = await storeDelivery(bus, at, event, { signal: late.signal, now });
        failed = undefined;
        return stored;
      } catch (error) {
        if (!(error instanceof OversizedDeliveryError))
          failed = { at: performance.now(), reason: (error as Error).message };
        throw error;
      } finally {
        clearTimeout(timer);
      }
    },
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const started = performance.now();
    let answer: Answer;
    try {
      answer = await receive(request, started + times.answer);
    } catch (error) {
      log.error({ err: error }, "failed to answer a request");
      answer = { status: 500, outcome: "failed", text: "failed: send it again" };
    }
    const { status, outcome, event = otherEvent, signed = false } = answer;
    metrics.requests.inc({ event, outcome, code: status });
    metrics.duration.observe((performance.now() - started) / 1000);
    tell(log, request, answer);
    const text = `${answer.text}\n`;
    response.writeHead(status, {
      "content-type": "text/plain; charset=utf-8",
      "content-length": Buffer.byteLength(text),
      "x-content-type-options": "nosniff",
      // Only a signed request keeps its connection. No request can follow one that was not read to its end.
      ...((stopping || !signed || !request.complete) && { connection: "close" }),
      ...answer.headers,
    });
    response.write(text);
    // Closing now could discard the answer before a sender that is still sending has read it.
    if (!request.complete) await pastEnd(request);
    response.end();
  }

  const server = createServer(
    {
      headersTimeout: times.headers,
      requestTimeout: times.request,
      connectionsCheckingInterval: times.look,
      keepAliveTimeout: 60_000,
    },
    (request, response) => void handle(request, response),
  );
  const connections: Connections = limitConnections(server, {
    name: "webhooks",
    limit: options.connections ?? defaultConnections,
    graceMillis: times.grace,
    unreadMillis: times.unread,
    registry: options.registry,
  });
  const url = `${await listenOn(server, options.webhookAddress, "webhooks", "--webhook-address")}${options.webhookPath}`;
  log.info({ url }, "gateway ready");
  return {
    url,
    notReady() {
      const isTroubled = failed !== undefined && performance.now() - failed.at <= troubledMillis;
      return isTroubled ? failed?.reason : connections.refusing();
    },
    async stop() {
      stopping = true;
      secrets.stop();
      ending.abort();
      await closed(server, times);
    },
  };
}

/** Discards the rest of a request, within the request's time limit. */
const pastEnd = (request: IncomingMessage): Promise<void> =>
  finished(request.resume()).catch(() => undefined);

/** Resolves when every started request was answered or has timed out. */
async function closed(server: Server, { answer, linger }: GatewayTimes): Promise<void> {
  const late = setTimeout(() => server.closeAllConnections(), answer);
  // The sender of a request on a connection that closes now could not know its outcome.
  const idle = setTimeout(() => server.closeIdleConnections(), linger);
  // Closed as an HTTP server, it would stop checking for slow requests and wait for them.
  await new Promise((resolve) => {
    TcpServer.prototype.close.call(server, resolve);
  });
  clearTimeout(idle);
  clearTimeout(late);
  server.close();
}

/** Logs failures of signed requests as warnings. Requests from strangers must not fill the log. */
function tell(log: Logger, { socket }: IncomingMessage, answer: Answer): void {
  const { status, outcome, event, delivery, detail } = answer;
  const record = { status, outcome, event, delivery, detail, from: socket.remoteAddress };
  if (detail !== undefined) log.warn(record, "webhook not accepted");
  else log.debug(record, "webhook");
}

function gatewayMetrics(registry: Registry) {
  const registers = [registry];
  const requests = new Counter({
    name: "denrei_gateway_requests_total",
    help: 'Requests, by event ("other" without a supported event), outcome, and status code.',
    labelNames: ["event", "outcome", "code"] as const,
    registers,
  });
  // Start the counters of alerts at 0, so that their first increase is visible.
  for (const event of webhookEventNames) {
    requests.inc({ event, outcome: "not_stored", code: 503 }, 0);
    requests.inc({ event, outcome: "oversized", code: 413 }, 0);
  }
  requests.inc({ event: otherEvent, outcome: "busy", code: 503 }, 0);
  requests.inc({ event: otherEvent, outcome: "failed", code: 500 }, 0);
  requests.inc({ event: otherEvent, outcome: "unsigned", code: 401 }, 0);
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

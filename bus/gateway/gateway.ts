/**
 * The gateway: webhooks become CloudEvents on the bus. Any number of replicas; none knows of the others, and none may do
 * anything in Kubernetes.
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
import { OversizedDeliveryError, storeDelivery } from "../webhooks/deliveries.ts";
import { type BudgetLimits, defaultBudget, openBudget } from "./budget.ts";
import { type Answer, receiver } from "./receiver.ts";
import { openSecrets } from "./secrets.ts";
import { endOfTurn } from "./turn.ts";

/** What a gateway needs. */
export interface GatewayOptions {
  readonly bus: Bus;
  readonly busOptions: BusOptions;
  /** `host:port`; port 0 takes any free one. */
  readonly webhookAddress: string;
  /** Hooks are served below it. */
  readonly webhookPath: string;
  /** The folder with a file of secrets for each hook. */
  readonly webhookSecrets: string;
  readonly log: Logger;
  readonly registry: Registry;
  readonly budget?: BudgetLimits;
  /** How many connections there may be; {@link defaultConnections} unless given. */
  readonly connections?: number;
  /** What differs from {@link defaultTimes}. */
  readonly times?: Partial<GatewayTimes>;
  /** Distinguishes redeliveries from repetitions; the clock of the bus unless given. Milliseconds since the epoch. */
  readonly now?: () => number;
}

/** How long something may take, in milliseconds. */
export interface GatewayTimes {
  /** The headers of a request, and the whole of it. */
  readonly headers: number;
  readonly request: number;
  /** How often requests are looked for that take too long. */
  readonly look: number;
  /** The bus, to store an event. */
  readonly store: number;
  /** A sender who holds a connection or memory for longer gives way to others when there is no more. */
  readonly grace: number;
  /** A sender who takes nothing of an answer. */
  readonly unread: number;
  /** Everything, from a request's headers to its answer. */
  readonly answer: number;
  /** At a stop, to a request that is on its way on a connection that was kept for it. */
  readonly linger: number;
  /** Between two looks at the secrets: a new one is known before GitHub has it, if whoever changes it takes a breath. */
  readonly reread: number;
}

/** GitHub waits ten seconds for the answer: it gets one in time, whatever takes long. */
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
  /** Where hooks are served: `http://127.0.0.1:8080/github`. */
  readonly url: string;
  /** Why the bus has not stored something a moment ago, or why connections are refused. */
  notReady(): string | undefined;
  /** Takes no more connections, and answers what has begun, or begins within a moment on one that was kept. */
  stop(): Promise<void>;
}

/** What metrics call an event that there is none of, or none of interest. */
const otherEvent = "other";
/** A bus that refused is tried again by others meanwhile. Milliseconds. */
const troubledMillis = 5_000;

/** Starts a gateway; resolves when it listens. Throws a `ConfigError` without secrets, and `AddressError`. */
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
  const turn = endOfTurn();

  const receive = receiver({
    path: options.webhookPath,
    secretsOf: secrets.of,
    bodyLimit: budget.body,
    room: openBudget(budget, times.grace),
    signed: (request) => connections.prove(request),
    async store(at, event, answerBy) {
      const left = Math.max(0, Math.ceil(answerBy - performance.now()));
      // Unlike that of a signal with a timeout, this timer ends with what it is for.
      const late = new AbortController();
      const timer = setTimeout(() => late.abort(), Math.min(times.store, left));
      try {
        await turn();
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
      log.error({ err: error }, "request not answered as it should be");
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
      // Only a sender who signs keeps a connection; and what was not read to its end cannot be followed by another request.
      ...((stopping || !signed || !request.complete) && { connection: "close" }),
      ...answer.headers,
    });
    response.write(text);
    // The end closes the connection, and many a sender hears nothing of what was said before it had sent everything.
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

/** Reads past the rest of a request, for which it has as much time as any. */
const pastEnd = (request: IncomingMessage): Promise<void> =>
  finished(request.resume()).catch(() => undefined);

/** Resolves when every request that has begun is answered, or has not come to its end in time. */
async function closed(server: Server, { answer, linger }: GatewayTimes): Promise<void> {
  const late = setTimeout(() => server.closeAllConnections(), answer);
  // Whoever has sent a request on a connection that is closed at this moment can not know what became of it.
  const idle = setTimeout(() => server.closeIdleConnections(), linger);
  // Closed as one of HTTP, a server looks no more for those that take too long, and waits for them.
  await new Promise((resolve) => {
    TcpServer.prototype.close.call(server, resolve);
  });
  clearTimeout(idle);
  clearTimeout(late);
  server.close();
}

/** What an operator wants to know of; a stranger who knocks is not, and must not be able to fill the log. */
function tell(log: Logger, { socket }: IncomingMessage, answer: Answer): void {
  const { status, outcome, event, delivery, detail } = answer;
  const record = { status, outcome, event, delivery, detail, from: socket.remoteAddress };
  if (detail !== undefined) log.warn(record, "webhook not taken");
  else log.debug(record, "webhook");
}

function gatewayMetrics(registry: Registry) {
  const registers = [registry];
  const requests = new Counter({
    name: "denrei_gateway_requests_total",
    help: 'Requests, by event ("other" where there is none, or none of interest), outcome and status code.',
    labelNames: ["event", "outcome", "code"] as const,
    registers,
  });
  // What somebody is to be told of is there before it happens, or the first time would be no increase.
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
      help: "From the headers of a request to its answer.",
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
  };
}

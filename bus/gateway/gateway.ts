/**
 * The gateway: publishes webhooks as CloudEvents on the bus. Replicas are independent of each other, and need no access to
 * Kubernetes.
 */
import type { Server } from "node:http";
import { Server as TcpServer } from "node:net";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { Bus } from "../nats/connect.ts";
import { startProcessClock } from "../process/clock.ts";
import { type Connections, defaultConnections, limitConnections } from "../process/connections.ts";
import { listenOn } from "../process/listen.ts";
import { unreadMillis } from "../process/unread.ts";
import { streams } from "../subjects.ts";
import { type BusOptions, ensureWebhooks } from "../topology.ts";
import type { WebhookProvider } from "../webhooks/provider.ts";
import { builtInProviders } from "../webhooks/providers.ts";
import { selectionsOf } from "../webhooks/selection.ts";
import type { SelectedEvent } from "../webhooks/sharedselection.ts";
import { type BudgetLimits, defaultBudget, openBudget } from "./budget.ts";
import { receiver } from "./receiver.ts";
import { Responder } from "./responder.ts";
import { openSecrets } from "./secrets.ts";
import { shareSelections } from "./sharedselections.ts";
import { WebhookStore } from "./webhookstore.ts";

// An `import` reads every export, including `WebSocket`, which loads Node's own undici for nothing.
const { createServer } = process.getBuiltinModule("node:http");

/** Options of {@link startGateway}. */
export interface GatewayOptions {
  readonly bus: Bus;
  readonly busOptions: BusOptions;
  /** `host:port`; port 0 takes any free one. */
  readonly webhookAddress: string;
  /** Path under which hooks are served, as `<path>/<provider>/<hook>`. */
  readonly webhookPath: string;
  /** Folder with a file of secrets per hook, `<provider>.<hook>`. */
  readonly webhookSecrets: string;
  /** The events and fields that the functions of the project select. The gateway publishes them, and those of other projects. */
  readonly webhooks: readonly SelectedEvent[];
  /** Providers that the project defines. */
  readonly providers?: readonly WebhookProvider[];
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
  /** Interval of the check for slow requests. */
  readonly look: number;
  /** Limit for storing an event. */
  readonly store: number;
  /** After this time a sender's connection or memory may be given to another one, if none is left. */
  readonly grace: number;
  /** A receiver that reads nothing of its answer for this long is disconnected. */
  readonly unread: number;
  /** Limit for everything, from a request's headers to its answer. */
  readonly answer: number;
  /** During a stop: how long kept connections stay open for a request that is already on its way. */
  readonly linger: number;
  /** Interval at which secrets, and what other projects select, are read again. Must be shorter than the time that a user needs to enter a new one at the sender. */
  readonly reread: number;
}

/** GitHub waits ten seconds for an answer, others not less, so these limits guarantee one in time. */
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
  /** URL under which hooks are served, as `<url>/<provider>/<hook>`: `http://127.0.0.1:8080`. */
  readonly url: string;
  /** Why the bus failed to store something a moment ago, or why connections are refused. */
  notReady(): string | undefined;
  /** Accepts no more connections. Answers requests that have started, or that arrive within a moment on a kept connection. */
  stop(): Promise<void>;
}

/**
 * Starts a gateway. Resolves when it listens. Throws a `ConfigError` without secrets, a `TypeError` if two providers have the same
 * name, and `AddressError`.
 */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { bus, log, registry, budget = defaultBudget } = options;
  const times = { ...defaultTimes, ...options.times };
  const own = selectionsOf(options.webhooks, [...builtInProviders, ...(options.providers ?? [])]);
  await ensureWebhooks(bus, options.busOptions);
  const ending = new AbortController();
  const { signal } = ending;
  const { project } = options.busOptions;
  const selections = await shareSelections(own, { bus, project, log, rereadMillis: times.reread });
  const clock = await startProcessClock({ bus, stream: streams.webhooks, signal, log, registry });
  const secrets = await openSecrets(options.webhookSecrets, {
    providers: own.providers,
    log,
    rereadMillis: times.reread,
  });
  const now = options.now ?? clock.now;
  const store = new WebhookStore(bus, { limitMillis: times.store, now });
  const path = options.webhookPath.replace(/\/+$/, "");
  const receive = receiver({
    path,
    selections,
    secretsOf: ({ provider, name }) => secrets.of(provider.name, name),
    bodyLimit: budget.body,
    room: openBudget(budget, times.grace),
    signed: (request) => connections.prove(request),
    store: ({ name }, at, event, answerBy) => store.store(name, at, event, answerBy),
    now,
  });
  const responder = new Responder({
    receive,
    events: options.webhooks,
    answerMillis: times.answer,
    log,
    registry,
  });
  const server = createServer(
    {
      headersTimeout: times.headers,
      requestTimeout: times.request,
      connectionsCheckingInterval: times.look,
      keepAliveTimeout: 60_000,
    },
    (request, response) => void responder.handle(request, response),
  );
  const connections: Connections = limitConnections(server, {
    name: "webhooks",
    limit: options.connections ?? defaultConnections,
    graceMillis: times.grace,
    unreadMillis: times.unread,
    registry,
  });
  const url = `${await listenOn(server, options.webhookAddress, "webhooks", "--webhook-address")}${path}`;
  log.info({ url }, "gateway ready");
  return {
    url,
    notReady: () => store.notReady() ?? connections.refusing(),
    async stop() {
      responder.stop();
      secrets.stop();
      selections.stop();
      ending.abort();
      await closed(server, times);
    },
  };
}

/** Resolves when every started request was answered or has timed out. */
async function closed(server: Server, { answer, linger }: GatewayTimes): Promise<void> {
  const late = setTimeout(() => server.closeAllConnections(), answer);
  // Closed at once, an idle connection could cut off a request that is on its way, and its sender would not know the outcome.
  const idle = setTimeout(() => server.closeIdleConnections(), linger);
  // The HTTP server's own `close` would also end its check for slow requests, and then wait for them.
  await new Promise((resolve) => {
    TcpServer.prototype.close.call(server, resolve);
  });
  clearTimeout(idle);
  clearTimeout(late);
  server.close();
}

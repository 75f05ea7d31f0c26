/**
 * The webhook that the API server calls to convert objects between the versions of a kind, and to run the admission hooks of kinds.
 * It keeps no state and calls no server: replicas are independent of each other.
 */
import { readFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import { createSecureContext } from "node:tls";
import type { Logger } from "pino";
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { readBody } from "../gateway/body.ts";
import { openBudget, type Room } from "../gateway/budget.ts";
import { admissionPaths } from "../kube/admission.ts";
import { conversionPath } from "../kube/crd.ts";
import type { Kind } from "../kube/kind.ts";
import { listenOn } from "../process/listen.ts";
import { expiryOf } from "../process/metrics.ts";
import { type Reread, reread } from "../process/reread.ts";
import type { ReviewAnswer } from "./answer.ts";
import { answerConversion } from "./conversion.ts";
import { MalformedReviewError } from "./malformed.ts";
import { answerAdmission, MissingHookError } from "./review.ts";

/** Options of {@link startAdmission}. */
export interface AdmissionOptions {
  /** The kinds whose objects it converts, and whose hooks it runs. */
  readonly kinds: readonly Kind[];
  /** `host:port`; port 0 takes any free one. */
  readonly admissionAddress: string;
  /** Paths of PEM files, read again at an interval. */
  readonly admissionCert: string;
  readonly admissionKey: string;
  readonly log: Logger;
  readonly registry: Registry;
  /** Interval at which the certificate is read again. Milliseconds; default 10 s. */
  readonly rereadMillis?: number;
  /** Size of the largest request. Bytes; default 64 MiB, as a review has all objects of a list. */
  readonly bodyLimit?: number;
}

/** A listening webhook. */
export interface Admission {
  /** `https://127.0.0.1:8443`. */
  readonly url: string;
  /** Accepts no more connections, and answers the requests that have started. */
  stop(): Promise<void>;
}

const MiB = 2 ** 20;
const defaultBodyLimit = 64 * MiB;
const smallBytes = MiB;
const shares = { allSmall: 64 * MiB, allLarge: 192 * MiB };
const defaultRereadMillis = 10_000;
/** The API server waits up to 30 s for an answer. Milliseconds. */
const deadlines = { headersTimeout: 5_000, requestTimeout: 25_000, connectionsCheckingInterval: 1_000 };
/** API servers keep a few connections each. */
const maxConnections = 500;
/** Hooks that take longer delay all requests. Milliseconds. */
const slowMillis = 1_000;
/** A body in memory does not give way to another one within this time. Milliseconds. */
const graceMillis = 1_000;

/** Starts the webhook. Resolves when it listens. Throws `AddressError`, and if the certificate cannot be used. */
export async function startAdmission(options: AdmissionOptions): Promise<Admission> {
  const { log, registry, bodyLimit = defaultBodyLimit } = options;
  const server = createServer(deadlines);
  const certificate = await followCertificate(server, options);
  const metrics = admissionMetrics(registry, options.admissionCert);
  const room = openBudget({ body: bodyLimit, small: smallBytes, ...shares }, graceMillis);
  let isStopping = false;
  server.maxConnections = maxConnections;
  server.on("request", async (request, response) => {
    const started = performance.now();
    const memory = room();
    const path = (request.url ?? "").split("?")[0] ?? "";
    const answer = await answerTo(request, { path, options, bodyLimit, memory }).finally(() => memory.free());
    const webhook = reviews.has(path) ? path.slice(1) : "unknown";
    metrics.requests.inc({ webhook, outcome: answer.outcome });
    metrics.duration.observe({ webhook }, (performance.now() - started) / 1000);
    if (answer.message !== undefined)
      log.warn(
        {
          webhook,
          outcome: answer.outcome,
          detail: answer.message,
          ...(answer.cause !== undefined && { err: answer.cause }),
        },
        "review not answered with success",
      );
    if (answer.millis && answer.millis > slowMillis)
      log.warn({ webhook, millis: Math.round(answer.millis) }, "slow review, it delayed all others");
    send(response, answer, isStopping || !request.complete);
  });
  const url = (
    await listenOn(server, options.admissionAddress, "webhooks of the API server", "--admission-address")
  ).replace(/^http:/, "https:");
  log.info({ url, kinds: options.kinds.length }, "admission ready");
  return {
    url,
    stop() {
      isStopping = true;
      certificate.stop();
      return new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
      });
    },
  };
}

interface Answer {
  readonly status: number;
  readonly outcome:
    | ReviewAnswer["outcome"]
    | "malformed"
    | "oversized"
    | "busy"
    | "broken_off"
    | "unknown_path"
    | "unknown_hook";
  /** JSON, or plain text for a request that is not a review. */
  readonly body: object | string;
  readonly message?: string | undefined;
  readonly cause?: unknown;
  /** How long it has kept the process from answering others. */
  readonly millis?: number;
}

type Review = (kinds: readonly Kind[], body: unknown) => ReviewAnswer;

/** What answers reviews, by path. */
const reviews: ReadonlyMap<string, Review> = new Map([
  [conversionPath, answerConversion],
  [admissionPaths.mutate, (kinds, body) => answerAdmission(kinds, "mutate", body)],
  [admissionPaths.validate, (kinds, body) => answerAdmission(kinds, "validate", body)],
]);
const expectedPaths = `expected POST ${[...reviews.keys()].join(", ")}`;

const refused = (status: number, outcome: Answer["outcome"], message: string): Answer => ({
  ...{ status, outcome, body: message, message },
});

const unread = {
  "too large": (limit: number) =>
    refused(413, "oversized", `expected at most ${limit} bytes. Lists in pages are smaller`),
  "no room": () => refused(503, "busy", "too many large requests at a time: run more replicas"),
  displaced: () => refused(503, "busy", "too many large requests at a time: run more replicas"),
  "broken off": () => refused(400, "broken_off", "the request has ended early"),
} as const;

interface Unanswered {
  readonly path: string;
  readonly options: AdmissionOptions;
  readonly bodyLimit: number;
  readonly memory: Room;
}

async function answerTo(
  request: IncomingMessage,
  { path, options: { kinds }, bodyLimit, memory }: Unanswered,
): Promise<Answer> {
  const review = reviews.get(path);
  if (review === undefined) return refused(404, "unknown_path", expectedPaths);
  if (request.method !== "POST") return refused(405, "unknown_path", expectedPaths);
  const announced = Number(request.headers["content-length"] ?? 0);
  const body = await readBody(request, { limit: bodyLimit, announced, room: memory, each: () => undefined });
  if (typeof body === "string") return unread[body](bodyLimit);
  const started = performance.now();
  try {
    const { review: answered, ...answer } = review(kinds, parsedJson(body));
    return { status: 200, body: answered, ...answer, millis: performance.now() - started };
  } catch (error) {
    if (error instanceof MalformedReviewError) return refused(400, "malformed", error.message);
    // The API server shows its clients the text of codes from 500, and applies the failurePolicy.
    if (error instanceof MissingHookError) return refused(501, "unknown_hook", error.message);
    // The API server fails the request, and the process serves the next one.
    return refused(500, "failed", `unexpected error: ${(error as Error).message}`);
  }
}

/** Undefined, which is no review, for what is not JSON. */
function parsedJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return undefined;
  }
}

function send(response: ServerResponse, { status, body }: Answer, isLast: boolean): void {
  // The rest of a request that was not read.
  response.req.resume();
  const text = typeof body === "string" ? `${body}\n` : JSON.stringify(body);
  response
    .writeHead(status, {
      "content-type": typeof body === "string" ? "text/plain; charset=utf-8" : "application/json",
      "content-length": Buffer.byteLength(text),
      ...(isLast && { connection: "close" }),
    })
    .end(text);
}

interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** Uses the current certificate for new connections. A pair that does not match, as during a renewal, is read again. */
async function followCertificate(
  server: Server,
  { admissionCert, admissionKey, log, rereadMillis = defaultRereadMillis }: AdmissionOptions,
): Promise<Reread<Certificate>> {
  const certificate = await reread<Certificate>({
    async read() {
      const [cert, key] = await Promise.all([
        readFile(admissionCert, "utf8"),
        readFile(admissionKey, "utf8"),
      ]);
      createSecureContext({ cert, key });
      return { cert, key };
    },
    everyMillis: rereadMillis,
    isSame: (one, other) => one.cert === other.cert && one.key === other.key,
    onChange(pair) {
      server.setSecureContext(pair);
      log.info("using a new certificate");
    },
    onError: (error) => log.error({ err: error }, "failed to read the certificate again, using the old one"),
  });
  server.setSecureContext(certificate.current());
  return certificate;
}

function admissionMetrics(registry: Registry, certificatePath: string) {
  const registers = [registry];
  new Gauge({
    name: "denrei_admission_certificate_expires_seconds",
    help: "When the certificate of the webhook expires, in seconds since the epoch. Read from the file at each scrape.",
    registers,
    async collect() {
      const expires = await expiryOf(certificatePath);
      this.reset();
      if (expires !== undefined) this.set(expires);
    },
  });
  return {
    requests: new Counter({
      name: "denrei_admission_requests_total",
      help: "Requests of the API server, by webhook and outcome.",
      labelNames: ["webhook", "outcome"] as const,
      registers,
    }),
    duration: new Histogram({
      name: "denrei_admission_request_seconds",
      help: "Time from the headers of a request to its answer, by webhook.",
      labelNames: ["webhook"] as const,
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
  };
}

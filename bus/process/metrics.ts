/** Metrics that every process exports, in addition to those of Node.js. */
import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { Counter, Gauge, type Registry } from "prom-client";
import type { CallObserver } from "../kube/client.ts";
import { serverCertificateExpiry } from "../nats/serverinfo.ts";

/** The address of the bus, and the certificate files for it. */
interface BusFiles {
  readonly natsUrl: string;
  readonly natsCert?: string | undefined;
  readonly natsKey?: string | undefined;
  readonly natsCa?: string | undefined;
}

/** Registers the metric of the certificates for the bus. */
export function registerCertificates(
  registry: Registry,
  { natsUrl, natsCert, natsKey, natsCa }: BusFiles,
): void {
  new Gauge({
    name: "denrei_certificate_expires_seconds",
    help: "When a certificate for the bus expires, in seconds since the epoch: of this user, of the first trusted authority to expire, and of the server. Read from the files and the server at each scrape.",
    labelNames: ["certificate"] as const,
    registers: [registry],
    async collect() {
      const found = await Promise.all([
        expiryOf(natsCert).then((expires) => ["user", expires] as const),
        expiryOf(natsCa).then((expires) => ["authority", expires] as const),
        shownExpiry({ natsUrl, natsCert, natsKey }).then((expires) => ["server", expires] as const),
      ]);
      this.reset();
      for (const [certificate, expires] of found)
        if (expires !== undefined) this.set({ certificate }, expires);
    },
  });
}

/** Registers the metric of the process's readiness. `notReady` is called at each scrape. */
export function registerReadiness(registry: Registry, notReady: () => string | undefined): void {
  new Gauge({
    name: "denrei_ready",
    help: "1 if the process is ready, else 0; /readyz and the log say why.",
    registers: [registry],
    collect() {
      this.set(notReady() === undefined ? 1 : 0);
    },
  });
}

const pemBlock = /-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----/gs;

/** When the first certificate of a file expires; undefined for an unreadable file. */
export async function expiryOf(path: string | undefined): Promise<number | undefined> {
  if (path === undefined) return undefined;
  try {
    const certificates = (await readFile(path, "utf8")).match(pemBlock) ?? [];
    const times = certificates.map((pem) => new X509Certificate(pem).validToDate.getTime() / 1000);
    return times.length === 0 ? undefined : Math.min(...times);
  } catch {
    return undefined;
  }
}

/** When the server's certificate expires; undefined if it presents none or is unreachable. */
async function shownExpiry({ natsUrl, natsCert, natsKey }: BusFiles): Promise<number | undefined> {
  const read = (path: string | undefined) => (path === undefined ? undefined : readFile(path));
  try {
    const [cert, key] = await Promise.all([read(natsCert), read(natsKey)]);
    const expires = await serverCertificateExpiry(natsUrl, { cert, key });
    return expires && expires.getTime() / 1000;
  } catch {
    return undefined;
  }
}

/** Counts calls to the API server like client-go. */
export function countCalls(registry: Registry): CallObserver {
  const calls = new Counter({
    name: "rest_client_requests_total",
    help: "Calls to the API server by code (<error> without an answer), method, and host.",
    labelNames: ["code", "method", "host"] as const,
    registers: [registry],
  });
  const inFlight = new Gauge({
    name: "rest_client_requests_in_flight",
    help: "Calls to the API server that wait for an answer, by method.",
    labelNames: ["method"] as const,
    registers: [registry],
  });
  return {
    begun: ({ method }) => inFlight.inc({ method }),
    ended({ method, host }, outcome) {
      inFlight.dec({ method });
      if (outcome === "abandoned") return;
      calls.inc({ code: outcome === "unanswered" ? "<error>" : outcome, method, host });
    },
  };
}

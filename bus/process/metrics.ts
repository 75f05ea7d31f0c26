/** What every process tells about itself, beside what Node.js does. */
import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { Counter, Gauge, type Registry } from "prom-client";
import type { CallObserver } from "../kube/client.ts";
import { serverCertificateExpiry } from "../nats/serverinfo.ts";

/** Where the bus is, and the files with what is shown to it and trusted of it. */
interface BusFiles {
  readonly natsUrl: string;
  readonly natsCert?: string | undefined;
  readonly natsKey?: string | undefined;
  readonly natsCa?: string | undefined;
}

/** Registers what all processes have in common. `notReady` is asked when somebody reads the metrics. */
export function registerProcessMetrics(
  registry: Registry,
  notReady: () => string | undefined,
  { natsUrl, natsCert, natsKey, natsCa }: BusFiles,
): void {
  new Gauge({
    name: "denrei_ready",
    help: "1 when the process is ready, 0 when it is not; /readyz and the log say why.",
    registers: [registry],
    collect() {
      this.set(notReady() === undefined ? 1 : 0);
    },
  });
  new Gauge({
    name: "denrei_certificate_expires_seconds",
    help: "When a certificate for the bus is not valid any more: of this user and the first to expire of the authorities it trusts, as the files are now, and of the server, as it shows it now. Seconds since the epoch.",
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

const pemBlock = /-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----/gs;

/** When the first of a file's certificates expires; undefined when the file is being written, or is none. */
async function expiryOf(path: string | undefined): Promise<number | undefined> {
  if (path === undefined) return undefined;
  try {
    const certificates = (await readFile(path, "utf8")).match(pemBlock) ?? [];
    const times = certificates.map((pem) => new X509Certificate(pem).validToDate.getTime() / 1000);
    return times.length === 0 ? undefined : Math.min(...times);
  } catch {
    return undefined;
  }
}

/** When the certificate expires that the server shows; undefined when it shows none, or is away. */
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

/** Counts calls to the API server as client-go does. */
export function countCalls(registry: Registry): CallObserver {
  const calls = new Counter({
    name: "rest_client_requests_total",
    help: "Calls to the API server by code (<error> where there was no answer), method and host.",
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

/** What every process tells about itself, beside what Node.js does. */
import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { Counter, Gauge, type Registry } from "prom-client";
import type { CallObserver } from "../kube/client.ts";

/** Registers what all processes have in common. `notReady` is asked when somebody reads the metrics. */
export function registerProcessMetrics(
  registry: Registry,
  notReady: () => string | undefined,
  { natsCert, natsCa }: { readonly natsCert?: string | undefined; readonly natsCa?: string | undefined },
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
    help: "When a certificate for the bus is not valid any more, as its file is now: of this user, or the first to expire of the authorities it trusts. Seconds since the epoch.",
    labelNames: ["certificate"] as const,
    registers: [registry],
    async collect() {
      this.reset();
      for (const [certificate, path] of [
        ["user", natsCert],
        ["authority", natsCa],
      ] as const) {
        const expires = path === undefined ? undefined : await expiryOf(path);
        if (expires !== undefined) this.set({ certificate }, expires);
      }
    },
  });
}

const pemBlock = /-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----/gs;

/** When the first of a file's certificates expires; undefined when the file is being written, or is none. */
async function expiryOf(path: string): Promise<number | undefined> {
  try {
    const certificates = (await readFile(path, "utf8")).match(pemBlock) ?? [];
    const times = certificates.map((pem) => new X509Certificate(pem).validToDate.getTime() / 1000);
    return times.length === 0 ? undefined : Math.min(...times);
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
  return ({ status, method, host }) => calls.inc({ code: status ?? "<error>", method, host });
}

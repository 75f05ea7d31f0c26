/** Rules, dashboard, and docs/operations.md use exactly the metrics that processes serve. */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { admissionEnv, prepareAdmission } from "../../deploy/environment/admission.ts";
import { alerts, natsAlerts } from "../../deploy/generate/monitoring/alerts.ts";
import { rows } from "../../deploy/generate/monitoring/panels.ts";
import { recordings } from "../../deploy/generate/monitoring/queries.ts";
import { startReplica, startTestEnvironment, type TestEnvironment } from "../harness/environment.ts";
import { exported } from "./exporter.ts";
import { metricsIn, servedIn } from "./expressions.ts";

let environment: TestEnvironment;
let texts: string[];
let served: string[];
const text = readFileSync(fileURLToPath(new URL("../../docs/operations.md", import.meta.url)), "utf8");

/** The first cells of a section's tables, without backticks. */
function firstCells(title: string): string[] {
  const section = text.split(new RegExp(`^#+ ${title}$`, "m"))[1]?.split(/^#/m)[0] ?? "";
  return [...section.matchAll(/^\| `([^`]+)` \|/gm)].map(([, cell = ""]) => cell);
}

/** The anchors that GitHub derives from headings. */
const anchors = (): string[] =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replace(/[^\w\- ]/g, "")
      .replaceAll(" ", "-"),
  );

/** Creates a file with session keys. */
async function keys(directory: string): Promise<string> {
  const path = join(directory, "session-keys");
  await writeFile(path, randomBytes(32).toString("base64"), { mode: 0o600 });
  return path;
}

/** The settings of a webhook with a certificate. */
const certified = async (directory: string) =>
  admissionEnv(await (await prepareAdmission()).writeSettings(directory));

beforeAll(async () => {
  environment = await startTestEnvironment();
  const replicas = await Promise.all([
    environment.bridge("bridge-1"),
    // With a collector configured, a process has metrics of its exports. The port is closed.
    environment.worker("worker-1", ["hikawa"], {
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9" },
    }),
    environment.gateway("gateway-1"),
    startReplica(environment.platform, "admission-1", ["admission"], {
      env: await certified(environment.platform.directory),
    }),
    startReplica(environment.platform, "dashboard-1", ["dashboard"], {
      env: {
        KUBECONFIG: environment.platform.kubeconfigPath,
        NATS_URL: environment.platform.natsUrlFor("dashboard"),
        DENREI_DASHBOARD_ADDRESS: "127.0.0.1:0",
        DENREI_DASHBOARD_KEYS: await keys(environment.platform.directory),
        // The dashboard contacts the issuer only at a login.
        DENREI_OIDC_ISSUER: "https://login.example.com",
        DENREI_OIDC_CLIENT_ID: "denrei-dashboard",
      },
    }),
  ]);
  texts = await Promise.all(replicas.map(async (replica) => (await replica.probe("/metrics")).text));
  served = [...new Set(texts.flatMap(servedIn))];
});
afterAll(() => environment?.stop());

test("rules use only metrics of processes, of other rules, or of the NATS exporter", () => {
  const known = new Set([...served, ...Object.keys(recordings), ...exported]);
  const asked = [...Object.values(recordings), ...[...alerts, ...natsAlerts].map(({ expr }) => expr)];
  expect(asked.flatMap(metricsIn).filter((name) => !known.has(name))).toEqual([]);
});

test("counters in increase() exist with 0 before the first event, which would not count otherwise", () => {
  const increases = alerts.flatMap(({ expr }) => [
    ...expr.matchAll(/increase\((\w+)(?:\{(\w+)=~?"([^"]+)"\})?/g),
  ]);
  expect(increases.length).toBeGreaterThan(3);
  for (const [, metric = "", label = "", values = ""] of increases)
    for (const value of values.split("|")) {
      const sample = new RegExp(`^${metric}\\{(?:.*,)?${label && `${label}="${value}"`}.* 0$`, "m");
      expect(
        texts.some((text) => sample.test(text)),
        `${metric} ${label} ${value}`,
      ).toBe(true);
    }
});

test("the dashboard uses only these metrics, too", () => {
  const known = new Set([...served, ...Object.keys(recordings), ...exported]);
  const asked = rows.flatMap(({ panels }) => panels.flatMap(({ lines }) => lines.map(({ expr }) => expr)));
  expect(asked.length).toBeGreaterThan(30);
  expect(asked.flatMap(metricsIn).filter((name) => !known.has(name))).toEqual([]);
});

test("docs/operations.md documents exactly the existing metrics", () => {
  const own = served.filter((name) => !/^(process|nodejs)_/.test(name));
  expect(firstCells("Metrics").sort()).toEqual(own.sort());
});

test("docs/operations.md documents exactly the existing alerts, each with a link to a section", () => {
  const all = [...alerts, ...natsAlerts];
  expect(firstCells("Alerts").sort()).toEqual(all.map(({ name }) => name).sort());
  const linked = [...text.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor = ""]) => anchor);
  const wanted = [...all.map(({ runbook }) => runbook), ...linked];
  expect(wanted.filter((anchor) => !anchors().includes(anchor))).toEqual([]);
});

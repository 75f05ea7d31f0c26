/** A site's own charts: they change without a restart, and cannot do harm. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { Deployment, Service } from "../../bus/kube/workloads.ts";
import { Application } from "../../functions/paas/kinds.ts";
import { type Paas, startPaas } from "../harness/paas.ts";
import { conditionOf, has } from "../harness/testobjects.ts";

let paas: Paas;
beforeAll(async () => {
  paas = await startPaas({ functions: ["modoki-application"], workers: 1 });
});
afterAll(() => paas?.stop());

/** A chart of one Service with this port, plus more code. */
const service = (port: number, before = "") => `
export default ({ app }) => {
  ${before}
  return [{ apiVersion: "v1", kind: "Service", metadata: { name: app.metadata.name }, spec: { ports: [{ port: ${port} }] } }];
};
`;
const portOf = (found: unknown) =>
  (found as { spec: { ports: readonly { port: number }[] } }).spec.ports[0]?.port;
const rendered = (name: string, status: "True" | "False", reason?: string) =>
  paas.environment.until(Application, { name }, has("Rendered", status, reason));

/** Creates an Application for one test: each existing one is rendered again whenever the chart changes. */
async function application(name: string): Promise<void> {
  await paas.application(name);
  onTestFinished(async () => {
    await paas.environment.client.delete(Application, { namespace: "default", name }, {});
  });
}

test("renders all Applications with a chart in the ConfigMap, and with its next version without a restart", async () => {
  await application("one");
  await application("two");
  for (const name of ["one", "two"]) await paas.environment.until(Deployment, { name }, () => true);
  await paas.site({ "chart.js": service(81) });
  for (const name of ["one", "two"]) {
    await paas.environment.until(Service, { name }, (found) => portOf(found) === 81);
    await paas.environment.untilGone(Deployment, { name });
  }
  await paas.site({ "chart.js": service(82) });
  for (const name of ["one", "two"])
    await paas.environment.until(Service, { name }, (found) => portOf(found) === 82);
  await paas.untilQuiet();
  for (const { log } of paas.workers)
    expect(log.records().filter(({ msg }) => msg === "starting")).toHaveLength(1);
});

test("renders cdk8s constructs in TypeScript, and generates the names that the chart leaves out", async () => {
  await application("blog");
  await paas.site({
    "chart.ts": `
      import { ApiObject, Chart } from "cdk8s";
      enum Port { Http = 83 }
      export default class Site extends Chart {
        constructor(scope: any, id: string, private props: { app: any; config: any }) {
          super(scope, id, { namespace: props.app.metadata.namespace });
          new ApiObject(this, "service", { apiVersion: "v1", kind: "Service", spec: { ports: [{ port: Port.Http }] } });
        }
      }`,
  });
  await paas.environment.until(
    Service,
    { name: "modoki-blog-service-c31ce115" },
    (found) => portOf(found) === 83,
  );
  await paas.environment.untilGone(Service, { name: "blog" });
});

test.each([
  ["throws", "ChartThrew", service(1, 'throw new Error("no such colour");'), "no such colour"],
  [
    "never ends",
    "ChartTimedOut",
    "export default () => new Promise(() => undefined);",
    "Check it for endless loops",
  ],
  [
    "returns a ClusterRole",
    "ChartNotAllowed",
    'export default () => [{ apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name: "all" } }];',
    "ClusterRole",
  ],
])("a chart that %s changes nothing, and the Application reports it", async (what, reason, chart, says) => {
  const name = `steady-${what.replaceAll(" ", "-").toLowerCase()}`;
  await paas.site({ "chart.js": service(84) });
  await application(name);
  const { metadata } = await paas.environment.until(Service, { name }, (found) => portOf(found) === 84);
  await paas.site({ "chart.js": chart });
  const found = await rendered(name, "False", reason);
  expect(conditionOf(found, "Rendered")?.message).toContain(says);
  expect(conditionOf(found)).toMatchObject({ status: "False", reason });
  expect(found.status).toMatchObject({ status: "failed", message: expect.stringContaining(says) });
  await paas.untilQuiet();
  const after = await paas.environment.client.get(Service, { namespace: "default", name });
  expect(after.metadata).toMatchObject({ uid: metadata.uid, resourceVersion: metadata.resourceVersion });
  await paas.site({ "chart.js": service(85) });
  const healed = await rendered(name, "True");
  expect(healed.status?.message).toBe("");
  await paas.environment.until(Service, { name }, (found) => portOf(found) === 85);
});

test("runs a program that follows modoki-operator's contract", async () => {
  const folder = await mkdtemp(join(tmpdir(), "denrei-chart-test-"));
  try {
    await writeFile(
      join(folder, "main.js"),
      `const { readFileSync } = require("node:fs");
       const app = JSON.parse(readFileSync(0, "utf8"));
       const config = JSON.parse(readFileSync(process.env.CONFIG_PATH, "utf8"));
       const secrets = Object.keys(process.env).filter((name) => /KUBE|NATS|DENREI/.test(name));
       console.log(\`---
apiVersion: v1
kind: Service
metadata: { name: \${app.metadata.name}, labels: { scheme: \${config.scheme}, secrets: "\${secrets.length}" } }
spec: { ports: [{ port: 86 }] }
\`);`,
    );
    const env = {
      ...(await paas.accounts.env(["modoki-application"])),
      CONTROLLER_NAMESPACE: "denrei",
      DENREI_CHART_COMMAND: JSON.stringify([process.execPath, "main.js"]),
      DENREI_CHART_DIRECTORY: folder,
    };
    for (const worker of paas.workers) await worker.stop();
    const worker = await paas.environment.worker("worker-of-programs", ["modoki-application"], { env });
    await paas.application("printed");
    const found = await paas.environment.until(Service, { name: "printed" }, (one) => portOf(one) === 86);
    expect(found.metadata.labels).toMatchObject({ scheme: "https", secrets: "0" });
    await worker.stop();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

/** Kinds that a site lists: charts create their objects without a new version of the program, with rights that the site grants. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { resourcePath } from "../../bus/kube/client.ts";
import { installCrds } from "../../bus/kube/install.ts";
import { externalKind, type Kind } from "../../bus/kube/kind.ts";
import type { KubeObject, Stored } from "../../bus/kube/object.ts";
import { Application } from "../../functions/paas/kinds.ts";
import { runHere } from "../cli/here.ts";
import { applyChartRights, polling, untilByRetry } from "../harness/chartkinds.ts";
import { type Paas, startPaas } from "../harness/paas.ts";
import { conditionOf, has } from "../harness/testobjects.ts";
import { storedDelay } from "../harness/timers.ts";

type CronJobObject = KubeObject<{ readonly schedule: string; readonly suspend?: boolean }>;
const CronJob = externalKind<CronJobObject>({
  group: "batch",
  version: "v1",
  kind: "CronJob",
  plural: "cronjobs",
});
const Widget = externalKind({
  group: "example.com",
  version: "v1",
  kind: "Widget",
  plural: "widgets",
});

let paas: Paas;
beforeAll(async () => {
  paas = await startPaas({
    functions: ["modoki-application"],
    lacking: ["batch/cronjobs", "example.com/widgets"],
  });
});
afterAll(() => paas?.stop());

const name = "web";
const at = { namespace: "default", name };
const until = (condition: (app: Stored<Application>) => boolean) =>
  paas.environment.until(Application, at, condition, 90_000);
const line = {
  CronJob: "- { group: batch, version: v1, kind: CronJob, plural: cronjobs }",
  Widget: "- { group: example.com, version: v1, kind: Widget, plural: widgets }",
};

/** A chart that renders one object of each given kind, and a ConfigMap. */
const chart = (...made: readonly ("CronJob" | "Widget" | "PriorityClass")[]): string => `
export default ({ app }) => {
  const metadata = { name: app.metadata.name };
  const container = { name: "main", image: "main:1" };
  const template = { spec: { template: { spec: { restartPolicy: "Never", containers: [container] } } } };
  const all = {
    CronJob: { apiVersion: "batch/v1", kind: "CronJob", metadata, spec: { schedule: "0 3 * * *", jobTemplate: template } },
    Widget: { apiVersion: "example.com/v1", kind: "Widget", metadata, spec: { size: 3 } },
    PriorityClass: { apiVersion: "scheduling.k8s.io/v1", kind: "PriorityClass", metadata, value: 1000 },
  };
  const config = { apiVersion: "v1", kind: "ConfigMap", metadata, data: { a: "b" } };
  return [config, ...${JSON.stringify(made)}.map((kind) => all[kind])];
};`;

const config = (...lines: readonly string[]): string =>
  lines.length === 0 ? "" : `kinds:\n${lines.map((one) => `  ${one}\n`).join("")}`;
const site = (kinds: readonly string[], chartText: string) =>
  paas.site({ "config.yaml": config(...kinds), "chart.js": chartText });

const mayDo = async (account: string, verb: string, resource: string): Promise<boolean> => {
  const [group, plural] = resource.split("/");
  const { status } = await paas.environment.client.request<{ status: { allowed: boolean } }>({
    method: "POST",
    path: "/apis/authorization.k8s.io/v1/subjectaccessreviews",
    body: {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SubjectAccessReview",
      spec: {
        user: `system:serviceaccount:denrei:${account}`,
        resourceAttributes: { verb, group, resource: plural, namespace: "default" },
      },
    },
  });
  return status.allowed;
};
/** Each account has its own roles, which take effect one after the other. */
async function untilAllowed(allowed: boolean, resource = "batch/cronjobs"): Promise<void> {
  for (const [account, verb] of [
    ["denrei-modoki-application", "create"],
    ["denrei-bridge", "watch"],
  ] as const)
    await expect.poll(() => mayDo(account, verb, resource), polling).toBe(allowed);
}

const byRetry = (condition: (app: Stored<Application>) => boolean) => untilByRetry(paas, at, condition);

const isReady = has("Ready", "True");
const kindsOf = ({ status }: Stored<Application>): string[] =>
  (status?.resources ?? []).map(({ kind }) => kind);
const uidOf = async (kind: Kind) => (await paas.environment.client.get(kind, at)).metadata.uid;
const untilWatched = (kind: string) =>
  expect
    .poll(async () => {
      const { stdout } = await runHere(["status", "--json"], {
        env: { NATS_URL: paas.environment.platform.natsUrlFor("operator") },
      });
      const kinds = JSON.parse(stdout).kinds as {
        kind: string;
        bridges: { state: string; objects: number }[];
      }[];
      return kinds.find((one) => one.kind === kind)?.bridges[0];
    }, polling)
    .toMatchObject({ state: "watching", objects: 1 });

async function isRepaired(kind: Kind, change: object, was: (object: Stored) => boolean): Promise<void> {
  const before = await uidOf(kind);
  await paas.environment.client.delete(kind, at, {});
  await paas.environment.until(kind, at, ({ metadata }) => metadata.uid !== before);
  await paas.patch(kind, name, change);
  await paas.environment.until(kind, at, was);
}

test("rejects an unlisted kind with the line that lists it, and a cluster-scoped kind with the reason", async () => {
  await site([], chart("CronJob"));
  await paas.application(name);
  const refused = await until(has("Rendered", "False", "ChartNotAllowed"));
  expect(conditionOf(refused, "Rendered")?.message).toContain(line.CronJob);
  expect(conditionOf(refused, "Ready")?.message).toContain("denrei chart rbac | kubectl apply -f -");
  await site([], chart("PriorityClass"));
  const message = ({ status }: Stored<Application>) => status?.message ?? "";
  await until((app) => message(app).includes("a PriorityClass is cluster-scoped"));
  await site([], chart("Widget"));
  await until((app) => message(app).includes("the API server does not serve it. Install its CRD"));
});

test("reports missing rights and a missing CRD, and continues once they are installed", async () => {
  await site([line.CronJob, line.Widget], chart("CronJob", "Widget"));
  const forbidden = await until(has("Applied", "False", "Forbidden"));
  expect(conditionOf(forbidden, "Applied")?.message).toContain("denrei chart rbac | kubectl apply -f -");
  // The condition is written before the timer.
  const isSoon = (delay: number) => delay > 10_000 && delay <= 30_000;
  const delay = () => storedDelay(paas, "modoki-application", at);
  await expect.poll(delay, polling).toSatisfy(isSoon);

  await applyChartRights(paas);
  await untilAllowed(true);
  expect(await mayDo("denrei-bridge", "create", "batch/cronjobs")).toBe(false);
  const missing = await byRetry(has("Applied", "False", "KindNotInstalled"));
  expect(conditionOf(missing, "Applied")?.message).toContain("Install the CRD of example.com/v1 Widget");
  await paas.environment.client.get(CronJob, at);

  const signal = AbortSignal.timeout(60_000);
  await installCrds(paas.environment.client, [widgetCrd], { fieldManager: "test", signal });
  const ready = await byRetry(isReady);
  expect(ready.status?.resources?.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`)).toEqual([
    "v1 ConfigMap",
    "batch/v1 CronJob",
    "example.com/v1 Widget",
  ]);
});

test("repairs a manual change or deletion, and `denrei status` shows the kinds", async () => {
  await untilWatched("CronJob.batch");
  await untilWatched("Widget.example.com");
  await isRepaired(
    CronJob,
    { spec: { schedule: "* * * * *" } },
    ({ spec }) => (spec as CronJobObject["spec"]).schedule === "0 3 * * *",
  );
  await isRepaired(Widget, { spec: { size: 4 } }, ({ spec }) => (spec as { size: number }).size === 3);
});

test("an object that is not ready keeps the Application from being ready", async () => {
  const answer = (status: "True" | "False", message: string) =>
    paas.environment.client.request({
      method: "PATCH",
      path: resourcePath(Widget, "default", name, "status"),
      contentType: "application/merge-patch+json",
      body: { status: { conditions: [{ type: "Ready", status, reason: "Made", message }] } },
    });
  await answer("False", "still being made");
  const waiting = await until(has("Ready", "False", "ChildNotReady"));
  expect(conditionOf(waiting)?.message).toBe("the Widget web: Ready is False (Made): still being made");
  await answer("True", "");
  await until(isReady);
});

test("deletes objects that the chart no longer renders, even of a kind that is no longer listed", async () => {
  await site([line.CronJob, line.Widget], chart("CronJob"));
  await paas.environment.untilGone(Widget, at);
  await until(isReady);
  await site([line.Widget], chart());
  await paas.environment.untilGone(CronJob, at);
  await until((app) => isReady(app) && kindsOf(app).join() === "ConfigMap");
});

test("reports orphans when a kind is removed from the list too early", async () => {
  await site([line.CronJob], chart("CronJob"));
  await until((app) => isReady(app) && kindsOf(app).join() === "ConfigMap,CronJob");
  await site([], chart("CronJob"));
  const unlisted = await until(has("Rendered", "False", "ChartNotAllowed"));
  expect(unlisted.status?.message).toContain(line.CronJob);
  expect(unlisted.status?.message).toContain("existing objects (web) stay");
  expect(kindsOf(unlisted)).toContain("CronJob");

  await applyChartRights(paas);
  await untilAllowed(false);
  await site([], chart());
  const kept = await until(has("Ready", "False", "NotPruned"));
  expect(conditionOf(kept)?.message).toContain(line.CronJob);
  expect(kindsOf(kept)).toEqual(["ConfigMap", "CronJob"]);
  await paas.environment.client.get(CronJob, at);

  await site([line.CronJob], chart());
  await applyChartRights(paas);
  await untilAllowed(true);
  const pruned = await byRetry(isReady);
  await paas.environment.untilGone(CronJob, at);
  expect(kindsOf(pruned)).toEqual(["ConfigMap"]);
});

test("deletes an Application without the rights, and the garbage collector deletes its objects", async () => {
  await site([line.CronJob], chart("CronJob"));
  await paas.environment.until(CronJob, at, () => true);
  await site([], chart("CronJob"));
  await applyChartRights(paas);
  await untilAllowed(false);
  await paas.environment.client.delete(Application, at, {});
  await paas.environment.untilGone(Application, at);
  await paas.environment.untilGone(CronJob, at);
});

const widgetCrd = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "widgets.example.com" },
  spec: {
    group: "example.com",
    names: { kind: "Widget", plural: "widgets", singular: "widget", listKind: "WidgetList" },
    scope: "Namespaced",
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        },
      },
    ],
  },
};

/** An agent of PipeCD v1 with plugins, from its sample: it runs, deploys to named targets, and follows changes. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { ConfigMap } from "../../bus/kube/kind.ts";
import { Deployment } from "../../bus/kube/workloads.ts";
import { Application, Piped } from "../../functions/pipecd/kinds.ts";
import { type Pipecd, type SampleObject, sample, startPipecd } from "../harness/pipecd.ts";
import { deadlineMillis } from "../harness/pipecdstack.ts";
import { conditionOf, has } from "../harness/testobjects.ts";

let pipecd: Pipecd;
beforeAll(async () => {
  pipecd = await startPipecd();
});
afterAll(() => pipecd?.stop());

const namespace = "sample-v1";
const manager = { fieldManager: "test" };
const at = (name: string) => ({ namespace, name });

const callsOf = (method: string) =>
  pipecd.pods.plane(namespace).calls.filter((call) => call.method === method && call.code === 0);

test("the sample becomes ready, and its Application deploys to targets of plugins", async () => {
  await pipecd.namespace(namespace);
  await pipecd.apply("v1", namespace);
  const { environment } = pipecd;
  await environment.until(Piped, at("piped-sample"), has("Ready", "True"), deadlineMillis);
  const application = await environment.until(Application, at("application-sample"), has("Ready", "True"));
  expect(application.status?.registered).toMatchObject({
    provider: "",
    deployTargets: [{ plugin: "kubernetes", names: ["local"] }],
  });
  expect(callsOf("AddApplication").at(-1)?.request).toMatchObject({
    labels: { team: "web", env: "test-environment" },
    deployTargetsByPlugin: { kubernetes: { deployTargets: ["local"] } },
  });
  expect(callsOf("ReportPipedMeta").at(-1)?.request).toMatchObject({
    plugins: [{ name: "kubernetes", deployTargets: ["local"] }, { name: "wait" }],
  });
  const config = await environment.client.get(ConfigMap, at("piped-sample"));
  expect(Object.values(config.data ?? {}).join()).toContain("port: 7001");
  const deployment = await environment.client.get(Deployment, at("piped-sample"));
  const images = deployment.spec.template?.spec?.containers?.map(({ image }) => image);
  expect(images).toEqual(["ghcr.io/pipe-cd/pipedv1-exp:v1.0.0-rc6"]);
});

test("another deploy target changes the Application in place", async () => {
  const { environment } = pipecd;
  const piped = await environment.client.get(Piped, at("piped-sample"));
  const plugins = (piped.spec.plugins ?? []).map((plugin) =>
    plugin.kubernetes
      ? { ...plugin, kubernetes: { deployTargets: [{ name: "local" }, { name: "other" }] } }
      : plugin,
  );
  await environment.client.mergePatch(Piped, at("piped-sample"), { spec: { plugins } }, manager);
  const { status } = await environment.client.get(Application, at("application-sample"));
  const wanted = { spec: { deployTargetsByPlugin: { kubernetes: ["other"] } } };
  await environment.client.mergePatch(Application, at("application-sample"), wanted, manager);
  const changed = await environment.until(
    Application,
    at("application-sample"),
    (found) => found.status?.registered?.deployTargets?.[0]?.names[0] === "other",
  );
  expect(changed.status?.applicationID).toBe(status?.applicationID);
  expect(callsOf("UpdateApplication").at(-1)?.request).toMatchObject({
    deployTargetsByPlugin: { kubernetes: { deployTargets: ["other"] } },
  });
});

test("returns to an agent of v0 with a provider, and leaves no deploy target", async () => {
  const { environment } = pipecd;
  const { status } = await environment.client.get(Application, at("application-sample"));
  const v0 = { spec: { version: "v0.57.0", plugins: null } };
  await environment.client.mergePatch(Piped, at("piped-sample"), v0, manager);
  const wanted = { spec: { deployTargetsByPlugin: null, kind: "Kubernetes" } };
  await environment.client.mergePatch(Application, at("application-sample"), wanted, manager);
  const former = await environment.until(
    Application,
    at("application-sample"),
    (found) => found.status?.registered?.provider === "kubernetes-default",
  );
  expect(former.status?.registered?.deployTargets).toBeUndefined();
  expect(former.status?.applicationID).toBe(status?.applicationID);
  const { spec } = sample("v1").find(({ kind }) => kind === "Piped") as SampleObject;
  const v1 = { spec: { version: spec.version, plugins: spec.plugins } };
  await environment.client.mergePatch(Piped, at("piped-sample"), v1, manager);
  const again = { spec: { deployTargetsByPlugin: { kubernetes: ["local"] } } };
  await environment.client.mergePatch(Application, at("application-sample"), again, manager);
  await environment.until(
    Application,
    at("application-sample"),
    (found) => found.status?.registered?.deployTargets?.[0]?.names[0] === "local",
  );
});

test("rejects an unknown deploy target with its path", async () => {
  const { environment } = pipecd;
  const wanted = { spec: { deployTargetsByPlugin: { kubernetes: ["nowhere"] } } };
  await environment.client.mergePatch(Application, at("application-sample"), wanted, manager);
  const refused = await environment.until(
    Application,
    at("application-sample"),
    has("Ready", "False", "ConfigInvalid"),
  );
  expect(conditionOf(refused)?.message).toContain(
    "spec.deployTargetsByPlugin.kubernetes[0]: expected a deploy target of the plugin, which has local, found nowhere",
  );
});

test("rejects an agent of v1 at an older control plane", async () => {
  await pipecd.namespace("old-plane-v1");
  await pipecd.apply("v1", "old-plane-v1", (object) =>
    object.kind === "ControlPlane" ? { ...object, spec: { ...object.spec, version: "v0.51.3" } } : object,
  );
  const refused = await pipecd.environment.until(
    Piped,
    { namespace: "old-plane-v1", name: "piped-sample" },
    has("Ready", "False", "VersionMismatch"),
  );
  expect(conditionOf(refused)?.message).toContain("needs a ControlPlane of v0.52.0 or later");
});

test.each<readonly [what: string, change: (plugins: SampleObject["spec"][]) => void, message: RegExp]>([
  ["two plugins at one port", (plugins) => Object.assign(plugins[1], { port: 7001 }), /a unique port/],
  [
    "two plugins with one name",
    (plugins) => Object.assign(plugins[1], { name: "kubernetes" }),
    /Duplicate value/,
  ],
  ["a port of the agent", (plugins) => Object.assign(plugins[1], { port: 9085 }), /other than 9085/],
  [
    "a url over HTTP",
    (plugins) => Object.assign(plugins[1], { url: "http://a.example.com/b" }),
    /plugins\[1\]\.url/,
  ],
  [
    "no deploy target",
    (plugins) => Object.assign(plugins[0], { kubernetes: { deployTargets: [] } }),
    /deployTargets/,
  ],
  [
    "two deploy targets with one name",
    (plugins) => Object.assign(plugins[0], { kubernetes: { deployTargets: [{ name: "a" }, { name: "a" }] } }),
    /Duplicate value/,
  ],
  ["two kinds of plugin", (plugins) => Object.assign(plugins[1], { scriptRun: {} }), /exactly one of/],
])("the API server rejects %s", async (_, change, message) => {
  const object = sample("v1").find(({ kind }) => kind === "Piped");
  const piped = structuredClone(object) as SampleObject;
  change(piped.spec.plugins);
  const metadata = { name: "refused", namespace };
  const refused = { ...piped, metadata } as unknown as Piped;
  await expect(pipecd.environment.client.create(Piped, refused, manager)).rejects.toThrow(message);
});

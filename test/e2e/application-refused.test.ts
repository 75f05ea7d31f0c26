/** Applications that are rejected, in whole or in part: by the API server, by the chart, or because an object belongs to someone else. */
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { resourcePath } from "../../bus/kube/client.ts";
import { crdOf } from "../../bus/kube/crd.ts";
import { isInvalid } from "../../bus/kube/errors.ts";
import { installCrds } from "../../bus/kube/install.ts";
import { ConfigMap } from "../../bus/kube/kind.ts";
import { controllerReference, type Stored } from "../../bus/kube/object.ts";
import { Application } from "../../functions/paas/kinds.ts";
import { Deployment, Ingress, imageOf, Service } from "../harness/children.ts";
import { metricSum } from "../harness/metrics.ts";
import { type Paas, startPaas } from "../harness/paas.ts";
import { sized } from "../harness/size.ts";
import { conditionOf, has } from "../harness/testobjects.ts";
import { changeBeforeTimer } from "../harness/timers.ts";

let paas: Paas;
beforeAll(async () => {
  paas = await startPaas({ functions: ["modoki-application"] });
});
afterAll(() => paas?.stop());

const at = (name: string) => ({ namespace: "default", name });
const until = (name: string, condition: (app: Stored<Application>) => boolean) =>
  paas.environment.until(Application, at(name), condition);
const isReady = has("Ready", "True");
const isDeployed = (app: Stored<Application>) =>
  isReady(app) && app.status?.observedGeneration === app.metadata.generation;
const listed = ({ status }: Stored<Application>) =>
  status?.resources?.map(({ kind, uid }) => [kind, uid !== undefined]);
const patchStatus = (name: string, status: object) =>
  paas.environment.client.mergePatch(
    Application,
    at(name),
    { status },
    { fieldManager: "test", subresource: "status" },
  );

test.each([
  ["no list of domains", { domains: undefined }, "spec.domains: Required value"],
  ["a domain in upper case", { domains: ["WEB.example.com"] }, "spec.domains[0]"],
  ["an address for a domain", { domains: ["https://web.example.com"] }, "spec.domains[0]"],
  ["fewer pods than none", { replicas: -1 }, "spec.replicas"],
  ["a port that is none", { port: 70_000 }, "spec.port"],
  ["a quantity that is none", { resources: { limits: { memory: "lots" } } }, "limits.memory"],
  [
    "a variable from two sources",
    {
      env: [
        {
          name: "A",
          valueFrom: { secretKeyRef: { name: "a", key: "a" }, configMapKeyRef: { name: "a", key: "a" } },
        },
      ],
    },
    "either secretKeyRef or configMapKeyRef",
  ],
  [
    "a variable twice",
    {
      env: [
        { name: "A", value: "1" },
        { name: "A", value: "2" },
      ],
    },
    "Duplicate value",
  ],
  ["an image in upper case", { image: "UPPER/Case:tag" }, "Enter an image such as"],
  ["an image with a space", { image: "nginx:bad tag" }, "Enter an image such as"],
  ["an image after a space", { image: " nginx" }, "Enter an image such as"],
  ["a reserved variable", { env: [{ name: "PORT", value: "80" }] }, "PORT is set automatically"],
  ["a variable with an equals sign", { env: [{ name: "1 A=B" }] }, "spec.env[0].name"],
  ["a variable without a name", { env: [{ name: "" }] }, "spec.env[0].name"],
  ["variables of an invalid Secret", { envFrom: [{ secretRef: { name: "a b" } }] }, "secretRef.name"],
  ["variables of nothing", { envFrom: [{ prefix: "A" }] }, "Choose either a Secret or a ConfigMap"],
  ["a negative quantity", { resources: { limits: { memory: "-1" } } }, "limits.memory"],
  ["a resource that is none", { resources: { limits: { banana: "1" } } }, "Use cpu, memory"],
])("the API server rejects %s with the reason", async (_, spec, message) => {
  await expect(paas.application("wrong", spec as Partial<Application["spec"]>)).rejects.toThrow(message);
});

test("the API server rejects a name that is too long, with the limit", async () => {
  await expect(paas.application("a".repeat(64))).rejects.toThrow("metadata.name can have at most 63");
  await paas.application("a".repeat(63), { domains: ["long.example.com"] });
  await until("a".repeat(63), isReady);
});

test("Applications stored before a rule existed can be changed elsewhere, and an invalid one names its field", async () => {
  const install = (crd: Record<string, unknown>) =>
    installCrds(paas.environment.client, [crd], {
      fieldManager: "test",
      signal: AbortSignal.timeout(60_000),
    });
  const strict = crdOf(Application);
  const lenient = JSON.parse(JSON.stringify(strict), (name, value) =>
    name === "pattern" || name === "x-kubernetes-validations" ? undefined : value,
  );
  const create = () => paas.application("elder", { domains: ["Elder.example.com"], image: "elder:bad tag" });
  // The next file uses the same cluster.
  onTestFinished(() => install(strict));
  await install(lenient);
  // The API server applies new rules a moment after it has stored them.
  await expect.poll(() => create().then(() => "stored", String), { timeout: 30_000 }).toBe("stored");
  const env = [{ name: "PORT", value: "8080" }];
  await paas.application("elder-port", { domains: ["elder-port.example.com"], env });
  await install(strict);
  const rejection = () =>
    paas.patch(Application, "elder", { spec: { image: "elder:other bad tag" } }).then(() => "", String);
  await expect.poll(rejection, { timeout: 30_000 }).toContain("Enter an image such as");
  await paas.patch(Application, "elder-port", { spec: { image: "elder:1" } });
  await until("elder-port", isDeployed);
  await paas.patch(Application, "elder", { spec: { replicas: 2 } });
  const found = await until("elder", has("Ready", "False", "InvalidSpec"));
  expect(conditionOf(found)?.message).toContain("spec.domains.0: Enter a host name in lowercase");
  await expect(paas.environment.client.get(Deployment, at("elder"))).rejects.toThrow("404");
  expect(conditionOf(found)?.message).toContain("spec.image: Enter an image such as");
  await paas.patch(Application, "elder", { spec: { domains: ["elder.example.com"], image: "elder:1" } });
  await until("elder", isDeployed);
});

test("an invalid child keeps neither the other children nor running pods from working", async () => {
  const resources = { requests: { memory: "2Gi" }, limits: { memory: "1Gi" } };
  await paas.application("greedy", { image: "greedy:1", resources });
  const refused = await until("greedy", has("Applied", "False", "Invalid"));
  const message = expect.stringMatching(
    /^Kubernetes rejected the Deployment greedy: spec\.template\.spec\.containers\[0\]\.resources\.requests: .*must be less than or equal to memory limit/,
  );
  expect(refused.status).toMatchObject({ status: "error", message });
  expect(refused.status?.message).not.toContain("PATCH");
  expect(listed(refused), "only objects that exist").toEqual([
    ["Service", true],
    ["Ingress", true],
  ]);
  expect(refused.status?.planned).toMatchObject([{ kind: "Deployment", name: "greedy" }]);
  expect(refused.status?.conditions?.map(({ type }) => type)).not.toContain("RolledOut");
  await paas.patch(Application, "greedy", { spec: { resources: null } });
  const healed = await until("greedy", isDeployed);
  expect(healed.status).toMatchObject({ status: "deployed", message: "", currentImage: "greedy:1" });
  expect(
    listed(healed)
      ?.map(([kind]) => kind)
      .sort(),
  ).toEqual(["Deployment", "Ingress", "Service"]);
  expect(healed.status?.planned).toBeUndefined();

  await paas.patch(Application, "greedy", { spec: { image: "greedy:2", resources } });
  const again = await until("greedy", has("Applied", "False", "Invalid"));
  expect(again.status).toMatchObject({ currentImage: "greedy:1", readyReplicas: 1 });
  expect(imageOf(await paas.environment.client.get(Deployment, at("greedy")))).toBe("greedy:1");
});

test("reports a child that cannot be converted to its kind as invalid", async () => {
  const applied = paas.environment.client.request({
    method: "PATCH",
    path: resourcePath(Deployment, "default", "unconvertible"),
    query: { fieldManager: "test" },
    contentType: "application/apply-patch+yaml",
    body: { apiVersion: "apps/v1", kind: "Deployment", spec: { replicas: "many" } },
  });
  await expect(applied.then(() => "taken", isInvalid)).resolves.toBe(true);
});

test("reports a failing chart in its own words, and deletes nothing", async () => {
  await paas.application("misspelt", { image: "misspelt:1" });
  const { status } = await until("misspelt", isDeployed);
  const attributes = { "modoki.tsuzu.dev/oauth2": "Default" };
  await paas.patch(Application, "misspelt", { spec: { attributes } });
  const failed = await until("misspelt", has("Rendered", "False", "ChartThrew"));
  expect(failed.status).toMatchObject({
    status: "failed",
    message: expect.stringContaining("the attribute modoki.tsuzu.dev/oauth2 must be default"),
    resources: status?.resources,
  });
  for (const kind of [Deployment, Service, Ingress])
    await paas.environment.client.get(kind as typeof Ingress, at("misspelt"));
  await paas.patch(Application, "misspelt", { spec: { attributes: null } });
  expect((await until("misspelt", isDeployed)).status?.message).toBe("");
});

test("leaves an object that another client created under a child's name, until that object is deleted", async () => {
  const spec = { ports: [{ name: "own", port: 9000 }] };
  const mine = await paas.create(Service, { metadata: at("taken"), spec });
  await paas.application("taken", { image: "taken:1" });
  const refused = await until("taken", has("Applied", "False", "NameTaken"));
  expect(conditionOf(refused)?.message).toContain("already exists and has no controller");
  expect(listed(refused)?.map(([kind]) => kind)).toEqual(["Deployment", "Ingress"]);
  await until("taken", has("RolledOut", "True"));
  const { metadata } = await paas.environment.client.get(Service, at("taken"));
  expect(metadata.resourceVersion, "it was not touched").toBe(mine.metadata.resourceVersion);

  const owner = await paas.create(ConfigMap, { metadata: at("owner") });
  const typed = { ...owner, apiVersion: "v1", kind: "ConfigMap" };
  const beforeRetry = async (change: () => Promise<unknown>) => {
    const delay = await changeBeforeTimer(paas, "modoki-application", at("taken"), change);
    expect(delay).toBeLessThanOrEqual(5000);
  };
  await beforeRetry(() =>
    paas.patch(Service, "taken", { metadata: { ownerReferences: [controllerReference(typed)] } }),
  );
  await until(
    "taken",
    (app) =>
      conditionOf(app)?.message.includes(`is controlled by ConfigMap owner (uid ${owner.metadata.uid})`) ===
      true,
  );
  await beforeRetry(() => paas.environment.client.delete(Service, at("taken"), {}));
  await until("taken", isDeployed);
  expect((await paas.environment.client.get(Service, at("taken"))).spec.ports[0]?.port).toBe(80);
});

test("deletes no object that is not its own, whatever its resource list contains", async () => {
  await paas.application("listing", { image: "listing:1" });
  const app = await until("listing", isDeployed);
  const other = await paas.create(ConfigMap, { metadata: at("foreign") });
  const own = await paas.create(ConfigMap, {
    metadata: { ...at("left-over"), ownerReferences: [controllerReference(app)] },
  });
  const entry = { apiVersion: "v1", kind: "ConfigMap", namespace: "default" };
  await patchStatus("listing", {
    resources: [
      ...(app.status?.resources ?? []),
      { ...entry, name: "foreign", uid: other.metadata.uid },
      // As if a worker had crashed before it recorded the UID, or before it wrote a new one.
      { ...entry, name: "left-over", uid: "of-another-life" },
    ],
  });
  await paas.environment.untilGone(ConfigMap, at("left-over"));
  const after = await until("listing", ({ status }) => status?.resources?.length === 3);
  expect(after.status?.resources).toEqual(app.status?.resources);
  expect((await paas.environment.client.get(ConfigMap, at("foreign"))).metadata.uid).toBe(other.metadata.uid);
  expect(own.metadata.uid).not.toBe("of-another-life");
});

test("recognizes a child that is listed with another API version", async () => {
  await paas.application("aged", { image: "aged:1" });
  const { status } = await until("aged", isDeployed);
  const resources = status?.resources ?? [];
  const older = resources.map((one) =>
    one.kind === "Ingress" ? { ...one, apiVersion: "networking.k8s.io/v1beta1" } : one,
  );
  await patchStatus("aged", { resources: older });
  await until("aged", (app) => JSON.stringify(app.status?.resources) === JSON.stringify(resources));
  const { metadata } = await paas.environment.client.get(Ingress, at("aged"));
  expect(metadata.uid).toBe(resources.find(({ kind }) => kind === "Ingress")?.uid);
  expect(metadata.deletionTimestamp).toBeUndefined();
});

test("writes nothing on replayed events, whatever is rejected", async () => {
  const attributes = { "modoki.tsuzu.dev/oauth2": "no" };
  await paas.application("stuck", { image: "stuck:1" });
  await until("stuck", isDeployed);
  await paas.patch(Application, "stuck", { spec: { attributes } });
  await until("stuck", has("Stalled", "True"));
  await until("greedy", has("Stalled", "True"));
  await paas.untilQuiet();
  const changes = await paas.changes();
  // Requests that are always rejected are sent again with each reconcile.
  const written = () =>
    metricSum(paas.workers, /^rest_client_requests_total\{code="2.*method="(POST|PATCH|PUT|DELETE)"/);
  // Waits for Events that are still being written.
  await paas.writes();
  const before = await written();
  for (let round = 0; round < sized(5, 20); round++) {
    await paas.replay(changes);
    await paas.untilQuiet();
  }
  expect(await written()).toBe(before);
});

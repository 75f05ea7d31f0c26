/** The life of an Application: its children, their repair, and its status. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { resourcePath } from "../../bus/kube/client.ts";
import { ConfigMap, type Kind } from "../../bus/kube/kind.ts";
import type { Stored } from "../../bus/kube/object.ts";
import { Application } from "../../functions/paas/kinds.ts";
import { annotations } from "../../functions/paas/names.ts";
import { Deployment, Ingress, imageOf, Service } from "../harness/children.ts";
import { metricSum } from "../harness/metrics.ts";
import { type Paas, startPaas } from "../harness/paas.ts";
import { sized } from "../harness/size.ts";
import { conditionOf, has } from "../harness/testobjects.ts";

let paas: Paas;
beforeAll(async () => {
  paas = await startPaas({ functions: ["modoki-application"] });
});
afterAll(() => paas?.stop());

const at = (name: string) => ({ namespace: "default", name });
const isDeployed = (app: Stored<Application>): boolean =>
  has("Ready", "True")(app) && conditionOf(app)?.observedGeneration === app.metadata.generation;
const deployed = (name: string) => paas.environment.until(Application, at(name), isDeployed);
const childKinds: readonly Kind[] = [Deployment, Service, Ingress];
const childrenOf = (name: string) =>
  Promise.all(childKinds.map((kind) => paas.environment.client.get(kind, at(name))));

test("owns and lists its children, and reports its URLs", async () => {
  await paas.site({ "config.yaml": "hosts: { allowed: { default: ['*.fresh.example.com'] } }" });
  await paas.application("fresh", {
    image: "fresh:1",
    domains: ["fresh.example.com", "*.fresh.example.com"],
  });
  const app = await deployed("fresh");
  const children = await childrenOf("fresh");
  for (const { metadata } of children) {
    expect(metadata.ownerReferences).toEqual([
      {
        apiVersion: "modoki.tsuzu.dev/v1alpha1",
        kind: "Application",
        name: "fresh",
        uid: app.metadata.uid,
        controller: true,
        blockOwnerDeletion: true,
      },
    ]);
  }
  expect(app.status).toMatchObject({
    status: "deployed",
    message: "",
    domains: ["fresh.example.com", "*.fresh.example.com"],
    url: "https://fresh.example.com",
    urls: ["https://fresh.example.com"],
    replicas: 1,
    readyReplicas: 1,
    currentImage: "fresh:1",
    resources: children.map(({ apiVersion, kind, metadata: { name, uid } }) => ({
      apiVersion,
      kind,
      namespace: "default",
      name,
      uid,
    })),
  });
  expect(app.status?.conditions?.map(({ type, status }) => [type, status])).toEqual(
    ["Rendered", "Applied", "RolledOut", "Ready"].map((type) => [type, "True"]),
  );
  await expect
    .poll(async () => (await paas.events("fresh")).map(({ note }) => note), { timeout: 30_000 })
    .toContain("all pods run fresh:1");
});

test("keeps what others add to a child, also when it applies the child again", async () => {
  await paas.application("adorned", { image: "adorned:1" });
  await deployed("adorned");
  const added = { metadata: { labels: { team: "a" }, annotations: { "example.com/note": "mine" } } };
  for (const kind of childKinds) await paas.patch(kind, "adorned", added);
  await paas.patch(Application, "adorned", {
    spec: { image: "adorned:2", port: 3000, domains: ["again.example.com"] },
  });
  await paas.environment.until(
    Application,
    at("adorned"),
    (app) => isDeployed(app) && app.status?.currentImage === "adorned:2",
  );
  for (const child of await childrenOf("adorned")) expect(child).toMatchObject(added);
});

test("recreates a deleted child, and lists its new UID", async () => {
  await paas.application("bereft");
  await deployed("bereft");
  for (const kind of childKinds) {
    const { uid } = (await paas.environment.client.get(kind, at("bereft"))).metadata;
    await paas.environment.client.delete(kind, at("bereft"), { uid });
    const again = await paas.environment.until(kind, at("bereft"), ({ metadata }) => metadata.uid !== uid);
    await paas.environment.until(
      Application,
      at("bereft"),
      (app) =>
        isDeployed(app) &&
        app.status?.resources?.find((one) => one.kind === kind.kind)?.uid === again.metadata.uid,
    );
  }
});

test("reverts changes of a child", async () => {
  await paas.application("drifting", { image: "drifting:1" });
  await deployed("drifting");
  await paas.patch(Deployment, "drifting", { spec: { replicas: 3 } });
  await paas.patch(Service, "drifting", { spec: { ports: [{ name: "other", port: 81 }] } });
  await paas.patch(Ingress, "drifting", { metadata: { labels: { "modoki-app": "mine" } } });
  await paas.environment.until(Deployment, at("drifting"), ({ spec }) => spec.replicas === 1);
  await paas.environment.until(Service, at("drifting"), ({ spec }) =>
    spec.ports.some(({ port }) => port === 80),
  );
  await paas.environment.until(
    Ingress,
    at("drifting"),
    ({ metadata }) => metadata.labels?.["modoki-app"] === "drifting",
  );
});

test("restores a removed owner reference of a child", async () => {
  await paas.application("adopting");
  const { metadata } = await deployed("adopting");
  for (const kind of childKinds) {
    const { uid } = (await paas.environment.client.get(kind, at("adopting"))).metadata;
    await paas.patch(kind, "adopting", { metadata: { ownerReferences: null } });
    const again = await paas.environment.until(
      kind,
      at("adopting"),
      (child) => child.metadata.ownerReferences?.[0]?.uid === metadata.uid,
    );
    expect(again.metadata.uid).toBe(uid);
  }
});

test("scales by its scale subresource, to zero and back", async () => {
  await paas.application("scaled", { image: "scaled:1" });
  await deployed("scaled");
  const path = resourcePath(Application, "default", "scaled", "scale");
  const scaleTo = async (replicas: number) => {
    const body = { spec: { replicas } };
    const contentType = "application/merge-patch+json";
    await paas.environment.client.request({ method: "PATCH", path, body, contentType });
    await paas.environment.until(
      Application,
      at("scaled"),
      (app) => isDeployed(app) && app.spec.replicas === replicas && app.status?.replicas === replicas,
    );
    expect((await paas.environment.client.get(Deployment, at("scaled"))).spec.replicas).toBe(replicas);
    return paas.environment.client.request<{ status: unknown }>({ method: "GET", path });
  };
  expect((await scaleTo(3)).status).toEqual({ replicas: 3, selector: "modoki-app=scaled" });
  expect((await scaleTo(0)).status).toMatchObject({ replicas: 0 });
  expect((await scaleTo(1)).status).toMatchObject({ replicas: 1 });
});

test("rolls back to an earlier image with one edit, and keeps its history in order", async () => {
  const image = (n: number) => `history:${n}`;
  const runs = async (spec: object, wanted: string, revision: string) => {
    await paas.patch(Application, "history", {
      metadata: { annotations: { [annotations.revision]: revision } },
      spec,
    });
    return paas.environment.until(
      Application,
      at("history"),
      (app) => isDeployed(app) && app.status?.currentImage === wanted,
    );
  };
  const images = ({ status }: Stored<Application>) => status?.history?.map((entry) => entry.image);
  await paas.application("history", { image: image(0) });
  await deployed("history");
  for (const n of [1, 2, 3]) await runs({ image: image(n) }, image(n), `revision-${n}`);
  const back = await runs({ pinnedImage: image(1) }, image(1), "revision-3");
  expect(images(back)).toEqual([1, 3, 2, 0].map(image));
  expect(back.status?.history?.[0]).toMatchObject({ revision: "revision-1" });
  expect(imageOf(await paas.environment.client.get(Deployment, at("history")))).toBe(image(1));
  const pinned = await runs({ image: image(4) }, image(1), "revision-4");
  expect(images(pinned)?.[0], "what is built does not run while another one is pinned").toBe(image(1));
  const forth = await runs({ pinnedImage: null }, image(4), "revision-4");
  expect(forth.status?.history?.slice(0, 2)).toMatchObject([
    { image: image(4), revision: "revision-4" },
    { image: image(1), revision: "revision-1" },
  ]);
});

test("runs the placeholder page without an image, and reports no current image", async () => {
  await paas.application("bare", { image: "bare:1" });
  await deployed("bare");
  await paas.patch(Application, "bare", { spec: { image: null } });
  await paas.environment.until(
    Application,
    at("bare"),
    (app) => isDeployed(app) && app.status?.currentImage === "",
  );
  expect(imageOf(await paas.environment.client.get(Deployment, at("bare")))).toBe("modokipaas/no-app");
});

test("reports its container as its pods have it", async () => {
  const env = [
    { name: "COLOR", value: "blue" },
    { name: "TOKEN", valueFrom: { secretKeyRef: { name: "tokens", key: "token", optional: true } } },
  ];
  await paas.application("spoken", {
    image: "spoken:1",
    env,
    envFrom: [{ prefix: "DB_", secretRef: { name: "db", optional: true } }],
    port: 3000,
    command: ["serve"],
    args: ["--fast"],
    healthCheck: { path: "/healthz" },
    resources: { requests: { cpu: "100m" }, limits: { memory: "1024Mi" } },
    imagePullSecret: "pull-a",
    imagePullSecrets: [{ name: "pull-b" }, { name: "pull-a" }],
  });
  await deployed("spoken");
  const { template } = (await paas.environment.client.get(Deployment, at("spoken"))).spec;
  expect(template.spec.imagePullSecrets).toEqual([{ name: "pull-a" }, { name: "pull-b" }]);
  expect(template.spec.containers).toMatchObject([
    {
      image: "spoken:1",
      command: ["serve"],
      args: ["--fast"],
      env: [{ name: "PORT", value: "3000" }, ...env],
      envFrom: [{ prefix: "DB_", secretRef: { name: "db" } }],
      ports: [{ containerPort: 3000 }],
      resources: { requests: { cpu: "100m" }, limits: { memory: "1Gi" } },
      readinessProbe: { httpGet: { path: "/healthz" } },
    },
  ]);
  await paas.patch(Application, "spoken", { spec: { env: null, envFrom: null, imagePullSecrets: null } });
  const less = await paas.environment.until(
    Deployment,
    at("spoken"),
    ({ spec }) => spec.template.spec.imagePullSecrets?.length === 1,
  );
  expect(less.spec.template.spec.containers[0]?.env).toEqual([{ name: "PORT", value: "3000" }]);
  expect(less.spec.template.spec.containers[0]?.envFrom).toBeUndefined();
});

test("deletes its children with it, and a new Application with its name starts over", async () => {
  await paas.application("mortal");
  const { uid } = (await deployed("mortal")).metadata;
  await paas.environment.client.delete(Application, at("mortal"), { uid });
  await paas.environment.untilGone(Application, at("mortal"));
  await paas.application("mortal");
  // The garbage collector discovers new kinds every 30 seconds.
  const next = await paas.environment.until(Application, at("mortal"), isDeployed, 120_000);
  for (const { metadata } of await childrenOf("mortal"))
    expect(metadata.ownerReferences?.[0]?.uid).toBe(next.metadata.uid);
  await paas.environment.client.delete(Application, at("mortal"), { uid: next.metadata.uid });
  for (const kind of childKinds) await paas.environment.untilGone(kind, at("mortal"));
}, 200_000);

test("writes nothing on replayed events once everything is up to date, whatever others have added", async () => {
  const rounds = sized(6, 100);
  await paas.untilQuiet();
  // Fresh processes do not remember their own writes. Their counters start at 0.
  for (const worker of paas.workers) {
    await worker.stop();
    await worker.start();
  }
  await paas.untilQuiet();
  const changes = await paas.changes();
  const apps = await paas.environment.list(Application);
  expect(apps.length).toBeGreaterThan(5);
  expect(
    (await paas.environment.list(ConfigMap)).length,
    "the ConfigMaps include one without an owner",
  ).toBeGreaterThan(0);
  for (let round = 0; round < rounds; round++) {
    await paas.replay(changes);
    if (round % 3 === 2) await paas.untilQuiet();
  }
  expect(await paas.writes()).toBe(0);
  const reconciles = await metricSum(
    paas.workers,
    /^controller_runtime_reconcile_total\{.*controller="modoki-application"/,
  );
  expect(reconciles, "the events did wake the function").toBeGreaterThan((apps.length * rounds) / 6);
});

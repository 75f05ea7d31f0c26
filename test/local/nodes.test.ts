import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { request } from "undici";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { KubeClient } from "../../bus/kube/client.ts";
import type { ApiError } from "../../bus/kube/errors.ts";
import { connectCluster } from "../../bus/process/cluster.ts";
import {
  kwokNodeAnnotation,
  type LocalPlatform,
  notReadyAnnotation,
  podLogLine,
  startLocalPlatform,
} from "../../deploy/local/index.ts";
import { platformPrograms, programs } from "../harness/programs.ts";

await programs(...platformPrograms);

/** The fields of Kubernetes objects that these tests read. */
interface Found {
  readonly metadata: { readonly name: string; readonly deletionTimestamp?: string };
  readonly spec: { readonly nodeName?: string };
  readonly status: {
    readonly phase?: string;
    readonly succeeded?: number;
    readonly availableReplicas?: number;
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason?: string;
    }[];
  };
}

const core = "/api/v1/namespaces/default/pods";
const deployments = "/apis/apps/v1/namespaces/default/deployments";
const jobs = "/apis/batch/v1/namespaces/default/jobs";
const waiting = { timeout: 60_000 };

let platform: LocalPlatform;
let client: KubeClient;
const ready: string[] = [];
const unexpected: string[] = [];

beforeAll(async () => {
  platform = await startLocalPlatform({
    nodes: 2,
    onProgress: ({ binary, phase }) => phase === "ready" && ready.push(binary),
    onUnexpectedExit: (part) => unexpected.push(part),
  });
  client = await connectCluster({ path: platform.kubeconfigPath });
  // Programs may have to be built first.
}, 900_000);
afterAll(async () => {
  await client?.connection.close();
  await platform?.stop();
});

const get = (path: string) => client.request<Found>({ method: "GET", path });
const post = (path: string, body: object) => client.request<Found>({ method: "POST", path, body });
const remove = (path: string) => client.request({ method: "DELETE", path });
const list = async (path: string, labelSelector?: string) =>
  (await client.request<{ items: Found[] }>({ method: "GET", path, query: { labelSelector } })).items;
const condition = (object: Found, type: string) => object.status.conditions?.find((one) => one.type === type);

const pod = (name: string, more: object = {}) => ({
  metadata: { name },
  spec: { containers: [{ name: "main", image: "registry.example.com/broken:1" }], ...more },
});

/** One pod per node, even while the scheduler has seen only one ready node. */
const ofOneNode = (app: string) => ({
  topologyKey: "kubernetes.io/hostname",
  labelSelector: { matchLabels: { app } },
});

const deployment = (name: string, annotations: object) => ({
  metadata: { name },
  spec: {
    replicas: 2,
    progressDeadlineSeconds: 1,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name }, annotations },
      spec: {
        terminationGracePeriodSeconds: 600,
        affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [ofOneNode(name)] } },
        initContainers: [{ name: "first", image: "registry.example.com/broken:1" }],
        containers: [{ name: "main", image: "registry.example.com/broken:1" }],
      },
    },
  },
});

test("nodes are ready when the platform is", async () => {
  const nodes = await list("/api/v1/nodes");
  expect(nodes.map((node) => [node.metadata.name, condition(node, "Ready")?.status])).toEqual([
    ["node-1", "True"],
    ["node-2", "True"],
  ]);
  expect(ready).toEqual(expect.arrayContaining(["kube-scheduler", "kwok"]));
});

test("a Deployment becomes available, whatever its image, and its pods are deleted with it", async () => {
  await post(deployments, deployment("web", {}));
  await expect.poll(async () => (await get(`${deployments}/web`)).status.availableReplicas, waiting).toBe(2);
  const pods = await list(core, "app=web");
  expect(pods.map(({ status }) => status.phase)).toEqual(["Running", "Running"]);
  expect(new Set(pods.map(({ spec }) => spec.nodeName))).toEqual(new Set(["node-1", "node-2"]));
  await remove(`${deployments}/web?propagationPolicy=Background`);
  await expect.poll(() => list(core, "app=web"), waiting).toEqual([]);
});

test("a Deployment whose pods are marked as not ready fails until the mark is removed", async () => {
  await post(deployments, deployment("failing", notReadyAnnotation));
  await expect
    .poll(async () => condition(await get(`${deployments}/failing`), "Progressing")?.reason, waiting)
    .toBe("ProgressDeadlineExceeded");
  // The time of the last progress is rounded to a second, so the deadline may pass before the pods run.
  await expect
    .poll(async () => (await list(core, "app=failing")).map(({ status }) => status.phase), waiting)
    .toEqual(["Running", "Running"]);
  const pods = await list(core, "app=failing");
  expect(pods.map((one) => condition(one, "Ready")?.status)).toEqual(["False", "False"]);
  expect((await get(`${deployments}/failing`)).status.availableReplicas).toBeUndefined();

  const [annotation = ""] = Object.keys(notReadyAnnotation);
  for (const { metadata } of pods) {
    await client.request({
      method: "PATCH",
      path: `${core}/${metadata.name}`,
      contentType: "application/merge-patch+json",
      body: { metadata: { annotations: { [annotation]: null } } },
    });
  }
  await expect
    .poll(async () => (await get(`${deployments}/failing`)).status.availableReplicas, waiting)
    .toBe(2);
});

test("a Job succeeds", async () => {
  await post(jobs, {
    metadata: { name: "once" },
    spec: { template: { spec: { ...pod("").spec, restartPolicy: "Never" } } },
  });
  await expect.poll(async () => (await get(`${jobs}/once`)).status.succeeded, waiting).toBe(1);
});

test("kwok ignores pods on nodes without its annotation, even deleted ones", async () => {
  await post("/api/v1/nodes", { metadata: { name: "foreign" } });
  await post(core, pod("foreign", { nodeName: "foreign" }));
  await post(core, pod("deleted", { nodeName: "foreign" }));
  await remove(`${core}/deleted`);
  // Events arrive in order: when this pod runs, kwok has seen the others.
  await post(core, pod("last", { nodeName: "node-1" }));
  await expect.poll(async () => (await get(`${core}/last`)).status.phase, waiting).toBe("Running");
  expect((await get(`${core}/foreign`)).status.phase).toBe("Pending");
  expect((await get(`${core}/deleted`)).metadata.deletionTimestamp).toEqual(expect.any(String));
  const foreign = await get("/api/v1/nodes/foreign");
  expect(condition(foreign, "Ready")).toBeUndefined();
});

test("a node with kwok's annotation can be added at any time", async () => {
  await post("/api/v1/nodes", { metadata: { name: "added", annotations: kwokNodeAnnotation } });
  await post(core, pod("there", { nodeName: "added" }));
  await expect.poll(async () => (await get(`${core}/there`)).status.phase, waiting).toBe("Running");
  await expect
    .poll(async () => condition(await get("/api/v1/nodes/added"), "Ready")?.status, waiting)
    .toBe("True");
});

test("kwok may not read Secrets, and may change only the status of nodes", async () => {
  const kwok = await connectCluster({ path: join(platform.directory, "kwok.kubeconfig") });
  const attempt = (method: "GET" | "DELETE", path: string) =>
    kwok.request({ method, path }).catch((error: ApiError) => error.status);
  try {
    expect(await attempt("GET", "/api/v1/secrets")).toBe(403);
    expect(await attempt("DELETE", "/api/v1/nodes/node-1")).toBe(403);
    expect(await attempt("GET", "/api/v1/nodes/node-1")).toMatchObject({ metadata: { name: "node-1" } });
  } finally {
    await kwok.connection.close();
  }
});

test("the log of each container is a file, and can be read, limited, and followed", async () => {
  const path = platform.nodes?.kwok.podLogsPath ?? "";
  const first = { initContainers: [{ name: "first", image: "registry.example.com/broken:1" }] };
  await post(core, { ...pod("talker"), spec: { ...pod("talker").spec, ...first } });
  await expect.poll(async () => (await get(`${core}/talker`)).status.phase, waiting).toBe("Running");
  await appendFile(path, podLogLine("one\ntwo", new Date("2026-01-02T03:04:05.678Z")));
  const { dispatcher, headers } = await client.connection.credentials("watches");
  const log = (query: string) =>
    request(`${client.connection.server}${core}/talker/log?${query}`, { dispatcher, headers });
  const read = async (query: string) => (await log(query)).body.text();
  expect(await read("container=main")).toBe("one\ntwo\n");
  expect(await read("container=first&tailLines=1")).toBe("two\n");
  expect(await read("container=main&timestamps=true&tailLines=1")).toBe(
    "2026-01-02T03:04:05.678000000Z two\n",
  );
  expect(await read("container=main&sinceTime=2026-01-02T03:04:06Z")).toBe("");

  const { body } = await log("container=main&follow=true&tailLines=1");
  let received = "";
  for await (const chunk of body) {
    received += String(chunk);
    if (received === "two\n") await appendFile(path, podLogLine("three"));
    if (received.endsWith("three\n")) break;
  }
  expect(received).toBe("two\nthree\n");
});

test("both programs continue after a kill and a restart", async () => {
  const parts = Object.values(platform.nodes ?? {});
  expect(parts.map(({ name }) => name)).toEqual(["kube-scheduler", "kwok"]);
  await Promise.all(parts.map((part) => part.stop("SIGKILL")));
  await post(core, pod("patient"));
  expect((await get(`${core}/patient`)).spec.nodeName).toBeUndefined();
  await Promise.all(parts.map((part) => part.start()));
  await expect.poll(async () => (await get(`${core}/patient`)).status.phase, waiting).toBe("Running");
  expect(unexpected).toEqual([]);
});

test.each([-1, 1.5, Number.NaN])("%d nodes are rejected", async (nodes) => {
  await expect(startLocalPlatform({ nodes })).rejects.toThrow(
    `expected a number of nodes, 0 or more, found ${nodes}`,
  );
});

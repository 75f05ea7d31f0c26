import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, request } from "undici";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { parse } from "yaml";
import { type Bus, connectBus } from "../../bus/nats/connect.ts";
import {
  type LocalPlatform,
  type PlatformProgress,
  startLocalNats,
  startLocalPlatform,
} from "../../deploy/local/index.ts";
import { type Child, ChildStartError } from "../../deploy/local/run/child.ts";
import { identify } from "../../deploy/local/run/identity.ts";
import { platformPrograms, programs } from "../harness/programs.ts";

await programs(...platformPrograms);

const runs = (pid: number | undefined): boolean => pid !== undefined && identify(pid) !== undefined;
const deployments = "/apis/apps/v1/namespaces/default/deployments";

/** The fields of Kubernetes' responses that these tests read. */
interface Answer {
  readonly gitVersion?: string;
  readonly items?: object[];
  readonly data?: object;
  readonly metadata?: { readonly uid: string };
  readonly status?: { readonly token?: string };
}

/** Calls the API server as the user of the kubeconfig. */
async function api(kubeconfigPath: string, method: "GET" | "POST" | "DELETE", path: string, body?: object) {
  const { clusters, users } = parse(await readFile(kubeconfigPath, "utf8"));
  const { server, "certificate-authority-data": ca } = clusters[0].cluster;
  const { "client-certificate-data": cert, "client-key-data": key } = users[0].user;
  const decode = (text: string) => Buffer.from(text, "base64");
  const dispatcher = new Agent({ connect: { ca: decode(ca), cert: decode(cert), key: decode(key) } });
  try {
    const answer = await request(`${server}${path}`, {
      dispatcher,
      method,
      ...(body && { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
    });
    return { status: answer.statusCode, body: (await answer.body.json()) as Answer };
  } finally {
    await dispatcher.close();
  }
}

describe("a whole platform", () => {
  const steps: PlatformProgress[] = [];
  const unexpected: string[] = [];
  let platform: LocalPlatform;
  beforeAll(async () => {
    platform = await startLocalPlatform({
      onProgress: (step) => steps.push(step),
      onUnexpectedExit: (part) => unexpected.push(part),
      audited: true,
      ownersProtected: true,
    });
    // Programs may have to be built first. With a warm cache, it takes 3 s.
  }, 900_000);
  afterAll(() => platform?.stop());

  const asAdmin = (method: "GET" | "POST" | "DELETE", path: string, body?: object) =>
    api(platform.kubeconfigPath, method, path, body);
  const pods = async () => (await asAdmin("GET", "/api/v1/namespaces/default/pods")).body.items?.length;

  test("reports the parts that it started, in a valid order", () => {
    const ready = steps.filter((step) => step.phase === "ready").map((step) => step.binary);
    expect([...ready].sort()).toEqual(["etcd", "kube-apiserver", "kube-controller-manager", "nats-server"]);
    expect(ready.filter((part) => part !== "nats-server")).toEqual([
      "etcd",
      "kube-apiserver",
      "kube-controller-manager",
    ]);
  });

  test("is the pinned version of Kubernetes", async () => {
    expect((await asAdmin("GET", "/version")).body.gitVersion).toBe("v1.36.3");
  });

  test("creates pods of Deployments, and deletes them with their owner", async () => {
    const labels = { app: "web" };
    const created = await asAdmin("POST", deployments, {
      metadata: { name: "web" },
      spec: {
        replicas: 2,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: "web", image: "web" }] } },
      },
    });
    expect(created.status).toBe(201);
    await expect.poll(pods).toBe(2);
    await asAdmin("DELETE", `${deployments}/web?propagationPolicy=Background`);
    await expect.poll(pods).toBe(0);
  });

  test("lets other users do only what RBAC grants them", async () => {
    const kubeconfig = await platform.kubeconfigFor("somebody", ["viewers"]);
    const list = () => api(kubeconfig, "GET", deployments);
    expect((await list()).status).toBe(403);
    await asAdmin("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
      metadata: { name: "viewers" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" },
      subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: "viewers" }],
    });
    await expect.poll(async () => (await list()).status).toBe(200);
    expect((await api(kubeconfig, "POST", deployments, {})).status).toBe(403);
    const answers = async () => {
      const lines = (await readFile(platform.auditLogPath ?? "", "utf8")).split("\n").slice(0, -1);
      const events = lines.map((line) => JSON.parse(line)).filter(({ user }) => user.username === "somebody");
      return new Set(
        events.map(({ verb, annotations }) => `${verb} ${annotations["authorization.k8s.io/decision"]}`),
      );
    };
    await expect.poll(answers).toEqual(new Set(["list forbid", "list allow", "create forbid"]));
  });

  test("rejects references with blockOwnerDeletion from users who may not change the owner's finalizers", async () => {
    const path = "/api/v1/namespaces/default/configmaps";
    const { uid } = (await asAdmin("POST", path, { metadata: { name: "owner" } })).body.metadata ?? {};
    const owner = { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid };
    const child = (name: string, more = {}) => ({
      metadata: { name, ownerReferences: [{ ...owner, ...more }] },
    });
    await asAdmin("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
      metadata: { name: "editors" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "edit" },
      subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: "editors" }],
    });
    const kubeconfig = await platform.kubeconfigFor("editor", ["editors"]);
    const create = async (object: object) => (await api(kubeconfig, "POST", path, object)).status;
    await expect.poll(() => create(child("loose"))).toBe(201);
    expect(await create(child("blocking", { blockOwnerDeletion: true }))).toBe(403);
  });

  test("issues service account tokens and accepts them", async () => {
    const path = "/api/v1/namespaces/default/serviceaccounts/default/token";
    const { body } = await asAdmin("POST", path, { spec: {} });
    const token = body.status?.token;
    const review = await asAdmin("POST", "/apis/authentication.k8s.io/v1/tokenreviews", { spec: { token } });
    expect(review.body.status).toMatchObject({
      authenticated: true,
      user: { username: "system:serviceaccount:default:default" },
    });
  });

  test("hides its keys from other users", () => {
    const mode = (file: string) => (statSync(join(platform.directory, file)).mode & 0o777).toString(8);
    expect(mode(".")).toBe("700");
    expect(mode("kubeconfig")).toBe("600");
    for (const file of readdirSync(join(platform.directory, "pki")))
      expect(mode(join("pki", file))).toBe("600");
  });

  test("survives a kill -9 of every part with the same addresses and data", async () => {
    const path = "/api/v1/namespaces/default/configmaps";
    await asAdmin("POST", path, { metadata: { name: "kept" }, data: { a: "b" } });
    await withJetStream(platform.natsUrl, async ({ js, jsm }) => {
      await jsm.streams.add({ name: "KEPT", subjects: ["kept"] });
      await js.publish("kept", "still here");
    });

    const parts = [platform.nats, platform.etcd, platform.apiserver, platform.controllerManager as Child];
    const before = parts.map((part) => part.pid);
    await Promise.all(parts.map((part) => part.stop("SIGKILL")));
    expect(before.map(runs)).toEqual([false, false, false, false]);
    for (const part of parts) await part.start();

    expect((await asAdmin("GET", `${path}/kept`)).body.data).toEqual({ a: "b" });
    await withJetStream(platform.natsUrl, async ({ jsm }) => {
      expect((await jsm.streams.getMessage("KEPT", { last_by_subj: "kept" }))?.string()).toBe("still here");
    });
    expect(unexpected).toEqual([]);
  });

  test("reports a part that ends unexpectedly", async () => {
    const { pid } = platform.nats;
    if (pid === undefined) throw new Error("expected nats-server to run");
    process.kill(pid, "SIGKILL");
    await expect.poll(() => unexpected).toEqual(["nats-server"]);
    await platform.nats.start();
  });

  test("stops all parts and the callers' children at once, and leaves nothing behind", async () => {
    const child = await platform.spawn({ name: "caller", command: "sh", args: ["-c", "sleep 600"] });
    const parts = [
      child,
      platform.nats,
      platform.etcd,
      platform.apiserver,
      platform.controllerManager as Child,
    ];
    const pids = parts.map((part) => part.pid);
    expect(pids.map(runs)).toEqual([true, true, true, true, true]);
    const ends = Promise.all(parts.map((part) => part.exited()));
    await Promise.all([platform.stop(), platform.stop()]);
    // No part reaches the end of its grace period, which would delay the stop: these two are killed at once.
    const [etcd, apiserver] = ["SIGKILL", "SIGKILL"];
    expect((await ends).map((exit) => exit?.signal)).toEqual(["SIGTERM", null, etcd, apiserver, "SIGTERM"]);
    expect(pids.map(runs)).toEqual([false, false, false, false, false]);
    expect(existsSync(platform.directory)).toBe(false);
  });
});

test("an abort during the start ends it with the signal's reason and leaves nothing behind", async () => {
  const temporary = mkdtempSync(join(tmpdir(), "test-platform-"));
  vi.stubEnv("TMPDIR", temporary);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    rmSync(temporary, { recursive: true, force: true });
  });
  const processes = () =>
    execFileSync("ps", ["-A", "-ww", "-o", "args="], { encoding: "utf8" })
      .split("\n")
      .filter((line) => line.includes(temporary));
  const abort = new AbortController();
  const reason = new Error("changed my mind");
  const starting = startLocalPlatform({ signal: abort.signal });
  starting.catch(() => undefined);

  const logs = () => readdirSync(temporary).flatMap((run) => readdirSync(join(temporary, run, "logs")));
  await expect.poll(logs).toContain("kube-apiserver.log");
  expect(processes().length).toBeGreaterThan(1);
  abort.abort(reason);
  await expect(starting).rejects.toBe(reason);
  expect(processes()).toEqual([]);
  expect(readdirSync(temporary)).toEqual([]);
});

async function withJetStream(
  url: string,
  work: (clients: Pick<Bus, "js" | "jsm">) => Promise<void>,
): Promise<void> {
  const bus = await connectBus({ url, name: "test" });
  try {
    await work(bus);
  } finally {
    await bus.nc.close();
  }
}

describe("a NATS server alone", () => {
  test("has JetStream and monitoring, and leaves nothing behind", async () => {
    const local = await startLocalNats();
    onTestFinished(() => local.stop());
    await withJetStream(local.natsUrl, async ({ jsm }) => {
      expect((await jsm.getAccountInfo()).streams).toBe(0);
    });
    const anybody = connectBus({ url: local.nats.url, name: "test" });
    await expect(anybody).rejects.toThrow(/Authorization Violation/);
    expect(() => local.natsUrlFor("nobody")).toThrow(
      /Known roles: bridge, gateway, dashboard, operator, backup, restore, run, worker, hikawa, .*admin$/,
    );
    const { body } = await request(`${local.nats.monitorUrl}/varz`, { reset: true });
    expect(await body.json()).toMatchObject({ version: "2.15.2" });
    const { pid } = local.nats;
    await local.stop();
    expect(runs(pid)).toBe(false);
    expect(existsSync(local.directory)).toBe(false);
  });

  test("does not conflict with another one", async () => {
    const both = await Promise.all([startLocalNats(), startLocalNats()]);
    onTestFinished(async () => void (await Promise.all(both.map((local) => local.stop()))));
    expect(new Set(both.map((local) => local.directory)).size).toBe(2);
    expect(new Set(both.map((local) => local.natsUrl)).size).toBe(2);
    await both[0].stop();
    expect(runs(both[1].nats.pid)).toBe(true);
  });

  test("runs a caller's child and shows its last lines when it fails", async () => {
    const local = await startLocalNats();
    onTestFinished(() => local.stop());
    const failing = local.spawn({
      name: "worker",
      command: "sh",
      args: ["-c", "echo no such stream; exit 1"],
      ready: async () => {
        throw new Error("not yet");
      },
    });
    await expect(failing).rejects.toThrow(ChildStartError);
    await expect(failing).rejects.toThrow(/worker \(.*\) did not start: .*no such stream/s);
  });
});

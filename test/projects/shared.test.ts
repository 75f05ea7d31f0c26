/** Two projects on one bus and one cluster, each with its own bridge, workers, and gateway. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { holderIn } from "../../bus/bridge/lease.ts";
import { leaseKey } from "../../bus/bridge/position.ts";
import { crdOf } from "../../bus/kube/crd.ts";
import { defineKind, type Kind } from "../../bus/kube/kind.ts";
import { type Bus, connectBus } from "../../bus/nats/connect.ts";
import { objectStore } from "../../bus/objects/store.ts";
import { bridgeBucket, consumers, streams, workStream } from "../../bus/subjects.ts";
import { mergeRoles, readRoles } from "../../deploy/cli/projectroles.ts";
import { type LocalNats, startLocalNats } from "../../deploy/local/index.ts";
import { type LocalTestEnvironment, startLocalTestEnvironment } from "../harness/environment.ts";
import { makeProject, type ProjectFolder, type TestProject } from "../harness/projects.ts";
import { hookOf, post, push } from "../harness/webhooks.ts";
import type { Replica } from "../ket/replica.ts";

const group = "shared.denrei.dev";
const Setting = defineKind({
  ...{ group, version: "v1", kind: "Setting", description: "What fruits of both projects show." },
  spec: z.object({ left: z.string(), right: z.string() }),
});
const fruit = (kind: string) =>
  defineKind({
    ...{ group, version: "v1", kind, description: "An object of one project." },
    spec: z.object({}),
    status: z.object({ shows: z.string().optional(), pushes: z.int().optional() }),
  });
const Apple = fruit("Apple");
const Pear = fruit("Pear");

/** A function that shows a field of the Setting with the name of its object, and counts pushes whose field has that name. */
const source = (
  kind: string,
  { field, pushed }: { readonly field: string; readonly pushed: string },
): string => `
import { defineFunction, defineKind, externalKind, github, z } from "denrei";

const ${kind} = defineKind({
  group: "${group}", version: "v1", kind: "${kind}", description: "An object of one project.",
  spec: z.object({}),
  status: z.object({ shows: z.string().optional(), pushes: z.int().optional() }),
});
const Setting = externalKind({
  group: "${group}", version: "v1", kind: "Setting", plural: "settings", fields: ["spec.${field}"],
});

export default defineFunction({
  name: "${kind.toLowerCase()}",
  for: ${kind},
  watches: [{ kind: Setting, keys: ({ metadata }) => [{ namespace: "default", name: metadata.name }] }],
  webhooks: [
    github.on("push", {
      select: z.object({ ${pushed}: z.string() }),
      keys: ({ data }) => [{ namespace: "default", name: data.${pushed}.split("/").at(-1) ?? "" }],
    }),
  ],
  async reconcile(object, ctx) {
    const setting = await ctx.read.get(Setting, object.metadata.name);
    const pushes = (object.status?.pushes ?? 0) + ctx.causes.filter(({ type }) => type === "webhook").length;
    await ctx.status(${kind}, object, { shows: setting?.spec.${field} ?? "nothing", pushes });
  },
});
`;

let folder: string;
let environment: LocalTestEnvironment;
let nats: LocalNats;
let bus: Bus;
let pearFolder: ProjectFolder;
let apples: TestProject;
let pears: TestProject;
let bridges: { a: Replica; b: Replica };
let pearWorker: Replica;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "test-projects-"));
  environment = await startLocalTestEnvironment({ crds: [Setting, Apple, Pear].map((kind) => crdOf(kind)) });
  const a = makeProject(join(folder, "apples"), "apples", {
    apple: source("Apple", { field: "left", pushed: "ref" }),
  });
  pearFolder = makeProject(join(folder, "pears"), "pears", {
    pear: source("Pear", { field: "right", pushed: "after" }),
  });
  const files = await Promise.all(
    [a, pearFolder].map(async (project, at) => {
      const { stdout } = await project.command("users", "--json");
      writeFileSync(join(folder, `${at}.json`), stdout);
      return readRoles(join(folder, `${at}.json`));
    }),
  );
  nats = await startLocalNats({ roles: mergeRoles(files) });
  bus = await connectBus({ url: nats.natsUrl, name: "test" });
  const { kubeconfigPath } = environment.platform;
  apples = a.on({ kubeconfigPath, nats });
  pears = pearFolder.on({ kubeconfigPath, nats });
  bridges = { a: await apples.bridge("bridge-a"), b: await pears.bridge("bridge-b") };
  [, pearWorker] = await Promise.all([apples.worker("worker-a", "apple"), pears.worker("worker-b", "pear")]);
});
afterAll(async () => {
  await bus?.nc.close();
  await nats?.stop();
  await environment?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const at = (name: string) => ({ namespace: "default", name });
const put = (kind: typeof Apple | typeof Pear, name: string) =>
  environment.client.create(
    kind,
    { apiVersion: `${group}/v1`, kind: kind.kind, metadata: at(name), spec: {} },
    { fieldManager: "test" },
  );
const setting = (name: string) =>
  environment.client.create(
    Setting,
    {
      apiVersion: `${group}/v1`,
      kind: "Setting",
      metadata: at(name),
      spec: { left: `left of ${name}`, right: `right of ${name}` },
    },
    { fieldManager: "test" },
  );
const untilShown = (kind: typeof Apple | typeof Pear, name: string, shows: string) =>
  environment.until(kind, at(name), ({ status }) => status?.shows === shows);
const leader = async (kind: Kind) => {
  const kv = await bus.kvm.open(bridgeBucket);
  return holderIn((await kv.get(leaseKey("default", kind)))?.string() ?? "");
};

test("each project reconciles its objects, and one bridge publishes what both need of a shared kind", async () => {
  await Promise.all([put(Apple, "first"), put(Pear, "first"), setting("first")]);
  await untilShown(Apple, "first", "left of first");
  await untilShown(Pear, "first", "right of first");
  expect(await leader(Setting)).toBe("bridge-a");
  expect(await leader(Apple)).toBe("bridge-a");
  expect(await leader(Pear)).toBe("bridge-b");
  expect((await objectStore(bus, "default").entry(Setting, at("first")))?.object.spec).toEqual({
    left: "left of first",
    right: "right of first",
  });
});

test("a webhook at either gateway reaches both projects, with the fields that each selects", async () => {
  await Promise.all([put(Apple, "main"), put(Pear, "abc")]);
  const gateways = [await apples.gateway("gateway-a"), await pears.gateway("gateway-b")];
  for (const [before, gateway] of gateways.entries()) {
    const payload = { ...push("acme/web", "main"), after: "abc" };
    expect(await post(gateway.hookUrl(), hookOf("push", payload))).toBe(202);
    for (const [kind, name] of [
      [Apple, "main"],
      [Pear, "abc"],
    ] as const)
      await environment.until(kind, at(name), ({ status }) => status?.pushes === before + 1);
  }
});

test("when a bridge ends, that of the other project takes over the shared kinds, and the others wait", async () => {
  await bridges.a.kill();
  await put(Apple, "second");
  await Promise.all([put(Pear, "second"), setting("second")]);
  await untilShown(Pear, "second", "right of second");
  expect(await leader(Setting)).toBe("bridge-b");
  // The worker gets the Setting, and would show it if the bus had the Apple.
  const store = objectStore(bus, "default");
  expect(await store.entry(Apple, at("second"))).toBeUndefined();
  await bridges.a.start();
  await untilShown(Apple, "second", "left of second");
});

test("a restart of a bridge changes nothing of the other project", async () => {
  const apple = { scope: { fn: "apple", cluster: "default" }, kinds: [Apple, Setting] };
  const state = async () => {
    const [objects, stream, router, listener] = await Promise.all([
      bus.jsm.streams.info(streams.objects, { subjects_filter: ">" }),
      bus.jsm.streams.info(workStream("apple")),
      bus.jsm.consumers.info(streams.objects, consumers.router(apple)),
      bus.jsm.consumers.info(streams.webhooks, consumers.webhooks(apple.scope)),
    ]);
    return {
      objects: objects.state.subjects,
      stream: stream.config,
      router: router.created,
      listener: listener.created,
    };
  };
  const before = await state();
  await bridges.b.stop();
  await bridges.b.start();
  await put(Pear, "third");
  await untilShown(Pear, "third", "nothing");
  const { objects, ...after } = await state();
  expect(after).toEqual({ stream: before.stream, router: before.router, listener: before.listener });
  expect(objects).toMatchObject(before.objects ?? {});
});

test("a bridge that may not watch a shared kind leaves it to that of the other project", async () => {
  await bridges.b.stop();
  const kubeconfigPath = await environment.platform.kubeconfigFor("stranger");
  const stranger = await pearFolder.on({ kubeconfigPath, nats }).bridge("stranger");
  await bridges.a.stop();
  const hasYielded = (line: string) => line.includes('"standing by"') && line.includes("Setting");
  await stranger.log.until(hasYielded, 60_000);
  await bridges.a.start();
  await expect.poll(() => leader(Setting)).toBe("bridge-a");
  await stranger.stop();
  await bridges.b.start();
});

test("a function with the name of another project's function is refused, in the bridge and in the worker", async () => {
  const { kubeconfigPath } = environment.platform;
  const copy = makeProject(join(folder, "copy"), "copy", {
    apple: source("Apple", { field: "left", pushed: "ref" }),
  }).on({ kubeconfigPath, nats });
  for (const args of [["bridge"], ["worker", "all"]]) {
    const { code, stderr } = await copy.command(...args);
    expect(stderr).toContain('the function apple of this bus belongs to the project "apples"');
    expect(code).toBe(1);
  }
});

test("a project is removed without an effect on the other", async () => {
  const names = async () => (await bus.jsm.streams.names().next()).sort();
  const before = await names();
  expect((await pears.command("prune", "--project", "pears")).stderr).toContain(
    "a worker of pear still runs",
  );
  await Promise.all([bridges.b.stop(), pearWorker.stop()]);
  const pruned = await apples.command("prune", "--force");
  expect(pruned.stderr).toBe("");
  expect(pruned.stdout).not.toContain("pear");
  expect(await names()).toEqual(before);

  const removed = await apples.command("prune", "--project", "pears");
  expect(removed.stderr).toBe("");
  expect(removed.stdout).toContain(`kinds that no other project needs: Pear.${group}.`);
  expect(await names()).toEqual(before.filter((name) => !name.endsWith("_pear")));
  const store = objectStore(bus, "default");
  expect(await store.entries(Pear)).toEqual([]);
  expect(await store.entries(Setting)).not.toEqual([]);
  await Promise.all([put(Apple, "third"), setting("third")]);
  await untilShown(Apple, "third", "left of third");
  expect((await apples.command("prune", "--project", "pears")).stderr).toContain('no project "pears"');
});

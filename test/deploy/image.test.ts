/**
 * The image, built without a container engine by running the Dockerfile's COPY and RUN instructions. Its processes start like
 * in their Deployments, with the rights of their service accounts.
 */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, normalize } from "node:path";
import { promisify } from "node:util";
import { request } from "undici";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import bus from "../../bus/package.json" with { type: "json" };
import dashboard from "../../dashboard/package.json" with { type: "json" };
import { dashboardSettingsName } from "../../deploy/generate/dashboard.ts";
import { withoutHashes } from "../../deploy/helm/sources.ts";
import type { Child } from "../../deploy/local/index.ts";
import { Hikawa } from "../../functions/zundoko/kinds.ts";
import { hookSecret, type LocalTestEnvironment, startLocalTestEnvironment } from "../harness/environment.ts";
import { expectFinishedSongs, hikawa, isFinished } from "../harness/song.ts";
import { hookOf, post, push } from "../harness/webhooks.ts";
import { Lines } from "../ket/lines.ts";
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
  // Without kubectl, kustomize may have to be built first.
}, 900_000);
afterAll(() => image?.remove());

/** The image's environment, with a temporary folder that cannot be created, as on a read-only root without a volume. */
const imageEnvironment = () => {
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

/** The output of a program that runs in the image's working directory. */
async function printed(args: readonly string[]): Promise<string> {
  const { command, args: all } = image.command(args);
  return (await run(command, all, { cwd: image.app, env: imageEnvironment() })).stdout;
}

describe("the image", () => {
  test("has our files without tests, and no build tools or package managers", async () => {
    const files = [...(await filesBelow(image.app)).keys()];
    const ours = files.filter((file) => !file.startsWith("node_modules"));
    expect(ours).toContain(join("bus", "topology.ts"));
    const sources = ours.filter((file) => !file.startsWith("dist"));
    expect(
      sources.filter((file) => /\.test\.ts$|go\.mod$|Dockerfile|skaffold|kustomization/.test(file)).sort(),
    ).toEqual([
      join("bus", "command", "init", "template", "Dockerfile.template"),
      join("crds", "kustomization.yaml"),
    ]);
    const top = [
      "bus",
      "compiled",
      "crds",
      "dashboard",
      "denrei.config.ts",
      "deploy",
      "dist",
      "functions",
      "node_modules",
      "package.json",
    ];
    expect((await readdir(image.app)).sort()).toEqual(top);
    // Of the page, only the built files.
    const page = ours.filter((file) => file.startsWith(join("dashboard", "web")));
    expect(page).toContain(join("dashboard", "web", "dist", "index.html"));
    expect(page.filter((file) => !file.startsWith(join("dashboard", "web", "dist")))).toEqual([]);
    const node = (await filesBelow(join(image.folder, "usr"))).keys();
    expect([...node].sort()).toEqual([join("local", "LICENSE"), join("local", "bin", "node")]);
    expect((await filesBelow(join(image.folder, "opt"))).size).toBe(0);
  });

  /** Experimental names, and duplicates for `require` and for browsers: unused here, and several megabytes. */
  const isLeftOut =
    /^(@opentelemetry\/semantic-conventions\/dist\/index-incubating\.|@opentelemetry\/(?!api\/).*\.cjs$|zod\/.*\.cjs$|js-yaml\/dist\/browser\/|hono\/dist\/cjs\/|@bufbuild\/protobuf\/dist\/cjs\/|@connectrpc\/[^/]+\/dist\/cjs\/)/;

  test("has exactly the production dependencies, with all entry points of their packages", async () => {
    const files = await filesBelow(join(image.app, "node_modules"));
    for (const name of Object.keys({ ...bus.dependencies, ...dashboard.dependencies }))
      if (!/^(@denrei\/|denrei$)/.test(name)) expect([...files.keys()]).toContain(`${name}/package.json`);
    for (const tool of [
      "typescript",
      "vitest",
      "vite",
      "preact",
      "@biomejs/biome",
      "@bufbuild/buf",
      "emulate",
    ]) {
      expect(existsSync(join(root, "node_modules", tool))).toBe(true);
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

  test("is no larger than 250 MB: published size of Debian plus the files of Node and ours", async () => {
    const measured = [...(await filesBelow(image.folder)).values()].reduce((sum, bytes) => sum + bytes, 0);
    expect(measured).toBeGreaterThan(100_000_000);
    expect(publishedBytes + measured).toBeLessThanOrEqual(250_000_000);
  });

  test("runs as a non-root user who cannot write to any of its files", async () => {
    const attempt = `
      const { writeFileSync } = require("node:fs");
      const tried = ["x", "bus/x", "package.json", process.execPath].map((path) => {
        try { writeFileSync(path, ""); return "written"; } catch ({ code }) { return code; }
      });
      console.log(JSON.stringify({ uid: process.getuid(), tried }));`;
    const { uid, tried } = JSON.parse(await printed(["-e", attempt]));
    expect(uid).not.toBe(0);
    // A process that cannot switch to that user tries as itself.
    if (process.getuid?.() === 0) expect(uid).toBe(65532);
    expect(tried.filter((code: string) => !["EACCES", "EROFS", "ETXTBSY"].includes(code))).toEqual([]);
  });

  test("has a compile cache for its user, so that no start compiles", async () => {
    const flags = entryPoint().slice(0, -1);
    const dashboard = ["--input-type=module", "--eval", 'await import("./deploy/cli/dashboard.ts");'];
    const reads = [
      // The function is looked up when the modules of a worker have been loaded.
      ...(await cacheReads([...entryPoint(), "worker", "unknown"])),
      ...(await cacheReads([...flags, ...dashboard])),
    ];
    for (const path of ["dist/denrei.js", "dist/denrei.config.js", "dist/worker-", "deploy/cli/dashboard.ts"])
      expect(reads.filter((line) => line.includes(path))).not.toEqual([]);
    expect(reads.length).toBeGreaterThan(200);
    expect(reads.filter((line) => !line.includes("success"))).toEqual([]);
  });

  /** What Node reports about each module that a program loads, except the program of `--eval`. */
  async function cacheReads(line: readonly string[]): Promise<string[]> {
    const { command, args } = image.command(line);
    const env = { ...imageEnvironment(), NODE_DEBUG_NATIVE: "COMPILE_CACHE" };
    const options = { cwd: image.app, env, maxBuffer: 1 << 26 };
    const { stderr } = await run(command, args, options).catch((error: { stderr: string }) => error);
    return stderr.split("\n").filter((one) => /reading cache from .* file:(?!.*\[eval)/.test(one));
  }

  test("has a working entry point", async () => {
    expect(JSON.parse(allOf(image.lastStage, "ENTRYPOINT")[0] ?? "")[0]).toBe("node");
    expect(await printed([...entryPoint(), "--help"])).toMatch(/^Usage: denrei/);
  });
});

/** The files that a package.json declares for programs, without those for compilers. */
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
  let environment: LocalTestEnvironment;
  /** The files mounted into the pods, readable for their user. */
  let mounted: string;
  const logs = new Map<string, Lines>();
  const processes = new Map<string, Child>();
  beforeAll(async () => {
    environment = await startLocalTestEnvironment();
    mounted = await mkdtemp(join(tmpdir(), "test-mounted-"));
    await chmod(mounted, 0o755);
    await mkdir(join(mounted, "webhooks"));
    await writeFile(join(mounted, "webhooks", "github.app"), `${hookSecret}\n`);
    await writeFile(join(mounted, "session-keys"), randomBytes(32).toString("base64"));
    const rights = ["Namespace", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "RoleBinding"];
    for (const object of objects.filter(({ kind }) => rights.includes(kind))) {
      expect(await apply(environment.client.connection, object, "for-real")).toEqual(accepted);
    }
  });
  afterAll(async () => {
    await environment?.stop();
    await rm(mounted, { recursive: true, force: true });
  });

  /** Starts the container of a Deployment as its service account, with the test's bus and cluster. */
  async function start(name: string): Promise<void> {
    const workload = find<Workload>(objects, "Deployment", name);
    const { args = [] } = containerOf(workload);
    const { namespace } = workload.metadata;
    const account = `system:serviceaccount:${namespace}:${workload.spec.template.spec.serviceAccountName}`;
    const log = new Lines();
    const kubeconfig = join(mounted, `${name}.kubeconfig`);
    await writeFile(kubeconfig, await readFile(await environment.platform.kubeconfigFor(account)));
    const child = await environment.platform.spawn({
      name,
      ...image.command([...entryPoint(), ...args]),
      cwd: image.app,
      env: {
        ...imageEnvironment(),
        KUBECONFIG: kubeconfig,
        NATS_URL: environment.platform.natsUrlFor(name.replace("denrei-", "")),
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

  test("work with their own rights", async () => {
    await environment.client.create(Hikawa, hikawa("in-the-image", 0), { fieldManager: "test" });
    await environment.until(Hikawa, { namespace: "default", name: "in-the-image" }, isFinished);
    await expectFinishedSongs(environment, ["in-the-image"]);
    const ready = logs
      .get("denrei-gateway")
      ?.records()
      .find(({ msg }) => msg === "gateway ready");
    expect(await post(`${ready?.url}/github/app`, hookOf("push", push("acme/web", "main")))).toBe(202);
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

  test("stop gracefully, well within the grace period of their pods", async () => {
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

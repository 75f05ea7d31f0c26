/** The packages of a release, installed outside this repository. The tests of docs/tutorial.md use them in a project, too. */
import { execFile } from "node:child_process";
import { createHmac } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { ConfigMap, externalKind, type Kind } from "../../bus/kube/kind.ts";
import type { KubeObject } from "../../bus/kube/object.ts";
import { root, run } from "../cli/program.ts";
import { apply } from "../deploy/apply.ts";
import type { Manifest } from "../deploy/manifests.ts";
import { startLocalTestEnvironment, type TestEnvironment } from "../harness/environment.ts";
import { platformPrograms, programs } from "../harness/programs.ts";
import { Lines } from "../ket/lines.ts";
import { makeProjectImage, type ProjectImage } from "./projectimage.ts";
import { install, installedPackages, packedPackages, programIn, type Tarballs } from "./tarballs.ts";

await programs(...platformPrograms);

let tarballs: Tarballs;
let folder: string;
/** A project that only runs functions. */
let production: string;
/** What `npm create denrei@latest my-operator` made, with two more functions. */
let project: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "denrei-packages-"));
  tarballs = await packedPackages(join(folder, "tarballs"));
  production = await installedIn("production", "denrei");
  project = await createProject();
}, 900_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A new folder with one package. */
async function installedIn(name: string, dependency: string): Promise<string> {
  const made = join(folder, name);
  mkdirSync(made);
  await install(made, { dependencies: { [dependency]: "" } }, tarballs);
  return made;
}

const bytesOf = (path: string): number =>
  readdirSync(path, { recursive: true, encoding: "utf8" })
    .map((name) => statSync(join(path, name)))
    .reduce((sum, stat) => sum + (stat.isFile() ? stat.size : 0), 0);

test("production needs at most 40 packages and 25 MB, none of which compiles manifests or serves pages", () => {
  const packages = installedPackages(production);
  expect(packages).toContain("denrei/package.json");
  expect(packages.length).toBeLessThanOrEqual(40);
  expect(bytesOf(join(production, "node_modules"))).toBeLessThanOrEqual(25_000_000);
  for (const name of ["cdk8s", "hono", "openid-client", "@connectrpc/connect", "@denrei/cli"])
    expect(existsSync(join(production, "node_modules", name))).toBe(false);
});

/** Node that runs `npm create` must be new enough. */
const withNode = { PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}` };

/** Creates a project as `npm create` does, which installs the package and runs its program, and adds functions. */
async function createProject(): Promise<string> {
  const creator = await installedIn("creator", "create-denrei");
  const create = (...args: string[]) =>
    run(args, { command: [join(creator, "node_modules/.bin/create-denrei")], cwd: folder, env: withNode });
  expect(await create()).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("npm create denrei@latest my-operator"),
  });
  const created = await create("my-operator");
  expect(created.stdout).toContain("cd my-operator\n  npm install\n  npm run dev");
  expect((await create("my-operator")).stderr).toContain("is not empty: choose the name of a new one");
  const made = join(folder, "my-operator");
  await install(made, JSON.parse(readFileSync(join(made, "package.json"), "utf8")), tarballs);
  for (const [name, ...kind] of [
    ["census", "--for", "Deployment"],
    ["widgets", "--external", "acme.example/v1/WidgetClass", "--scope", "Cluster"],
  ] as const) {
    const { stdout, stderr } = await inProject(made, "new", "function", name, ...kind);
    expect(stdout + stderr).toContain(`Run its test: npx vitest run test/${name}.test.ts`);
  }
  addParcels(made);
  return made;
}

/** Adds a function by hand: a kind with two versions, and webhooks of a provider of the project. */
function addParcels(made: string): void {
  cpSync(join(root, "test/fixtures/parcels"), made, { recursive: true });
  const config = join(made, "denrei.config.ts");
  const first = "functions: {\n";
  const parcels = '    parcels: () => import("./functions/parcels/parcels.ts"),\n';
  writeFileSync(config, readFileSync(config, "utf8").replace(first, first + parcels));
  const greetings = readFileSync(join(made, "test/greeting.test.ts"), "utf8");
  const [head = ""] = greetings.slice(greetings.indexOf("import {")).split("\ntest(");
  const test = head
    .replaceAll("greeting", "parcels")
    .replace('import { ConfigMap, type ConfigMapObject } from "denrei";\n', "")
    .replace("beforeAll, expect, test }", "beforeAll, test }");
  writeFileSync(
    join(made, "test/parcels.test.ts"),
    `${test}\ntest("converts an old version", { timeout: 120_000 }, () => ket.apply("old"));\n`,
  );
}

const inProject = (made: string, ...args: string[]) => run(args, { command: programIn(made), cwd: made });

test("a project with new functions type-checks, is formatted, and passes its cases", async () => {
  const zods = installedPackages(project).filter((path) => /(^|\/)zod\/package\.json$/.test(path));
  expect(zods).toEqual(["zod/package.json"]);
  const tool = (path: string, ...args: string[]) =>
    run([join(project, "node_modules", path), ...args], {
      command: [process.execPath],
      cwd: project,
      env: { NO_COLOR: "1" },
      longestMillis: 300_000,
    });
  expect(await tool("typescript/bin/tsc", "--noEmit")).toMatchObject({ stdout: "", stderr: "", code: 0 });
  const cases = await tool("vitest/vitest.mjs", "run");
  expect(cases.stdout + cases.stderr).toContain("Tests  7 passed (7)");
  await promisify(execFile)(join(root, "node_modules/.bin/biome"), [
    ...["check", "--error-on-warnings", `--config-path=${formatting(folder)}`],
    ...["functions", "test", "denrei.config.ts"].map((path) => join(project, path)),
  ]);
}, 600_000);

/** A configuration with the repository's style, without its folders. */
function formatting(path: string): string {
  const { vcs: _, files: __, ...style } = JSON.parse(readFileSync(join(root, "biome.json"), "utf8"));
  writeFileSync(join(path, "biome.json"), JSON.stringify(style));
  return path;
}

test("manifests of a project have its kinds and image, and nothing of other components", async () => {
  const { code, stdout } = await inProject(project, "manifests", "--profile", "small");
  expect(code).toBe(0);
  expect(stdout).toContain("image: my-operator:0.1.0");
  expect(stdout).toContain("name: greetings.greeting.example.com");
  expect(stdout).toContain("name: denrei-gateway");
  expect(stdout).not.toContain("zundoko");
});

const Greeting = externalKind<KubeObject<{ who: string }, { message?: string }>>({
  group: "greeting.example.com",
  version: "v1alpha1",
  kind: "Greeting",
  plural: "greetings",
});
const Parcel = externalKind<KubeObject<{ city: string }, { place?: string }>>({
  group: "parcels.example.com",
  version: "v1",
  kind: "Parcel",
  plural: "parcels",
});

describe("in a cluster", () => {
  const namespace = "default";
  const secret = "of the courier";
  let image: ProjectImage;
  let environment: TestEnvironment;
  let webhooks: string;
  beforeAll(async () => {
    image = await makeProjectImage(project, join(folder, "tarballs"), join(folder, "image"));
    const printed = await inProject(project, "manifests", "--profile", "small", "--json");
    const widgets = readFileSync(join(project, "test/crds/widgetclasses.acme.example.yaml"), "utf8");
    const crds = (JSON.parse(printed.stdout).items as Manifest[]).filter(
      ({ kind }) => kind === "CustomResourceDefinition",
    );
    environment = await startLocalTestEnvironment({ crds: [...crds, parse(widgets)] });
    writeFileSync(join(folder, "kubeconfig"), readFileSync(environment.platform.kubeconfigPath));
    mkdirSync(join(folder, "secrets"));
    writeFileSync(join(folder, "secrets/courier.team"), secret);
    await startProcess("bridge");
    const [gateway] = await Promise.all([startProcess("gateway"), startProcess("worker", "all")]);
    webhooks = String(gateway.records().find(({ msg }) => msg === "gateway ready")?.url);
  }, 600_000);
  afterAll(() => environment?.stop());

  async function startProcess(...args: readonly string[]): Promise<Lines> {
    const log = new Lines();
    await environment.platform.spawn({
      name: `image-${args[0]}`,
      ...image.command(args),
      cwd: image.app,
      env: {
        ...image.env,
        KUBECONFIG: join(folder, "kubeconfig"),
        NATS_URL: environment.platform.natsUrl,
        DENREI_WEBHOOK_ADDRESS: "127.0.0.1:0",
        DENREI_WEBHOOK_SECRETS: join(folder, "secrets"),
        VITEST: undefined,
      },
      onLine: (line) => log.push(line),
      ready: () => log.until((line) => /"msg":"(bridge|worker|gateway) ready"/.test(line)),
      graceMillis: 12_000,
    });
    return log;
  }

  test("the image has a bundle, and neither packages nor sources", () => {
    expect(existsSync(join(image.app, "denrei.js"))).toBe(true);
    for (const path of ["node_modules", "functions", "test", "denrei.config.ts"])
      expect(existsSync(join(image.app, path))).toBe(false);
  });

  test("processes of the image reconcile, also after a webhook of the project's own provider", async () => {
    const { client } = environment;
    const given = parse(readFileSync(join(project, "test/cases/greeting/first/given.yaml"), "utf8"));
    given.metadata.namespace = namespace;
    await client.create(Greeting, given, { fieldManager: "test" });
    await environment.until(
      Greeting,
      { namespace, name: "first" },
      ({ status }) => status?.message === "Hello, Kaito!",
    );

    const parcel = { namespace, name: "books" };
    const created = {
      apiVersion: "parcels.example.com/v1",
      kind: "Parcel",
      metadata: parcel,
      spec: { city: "Kyoto" },
    };
    await client.create(Parcel, created, { fieldManager: "test" });
    await environment.until(Parcel, parcel, ({ status }) => status?.place === "on the way to Kyoto");
    const tracking = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { namespace, name: "tracking" },
      spec: undefined,
    };
    await client.create(ConfigMap, { ...tracking, data: { books: "Osaka" } }, { fieldManager: "test" });
    const body = JSON.stringify({ kind: "parcel.moved", id: "1", parcel });
    const signature = createHmac("sha256", secret).update(body).digest("base64");
    const headers = { "content-type": "application/json", "x-courier-signature": signature };
    const answer = await fetch(`${webhooks}/courier/team`, { method: "POST", headers, body });
    expect(answer.status).toBe(202);
    await environment.until(Parcel, parcel, ({ status }) => status?.place === "Osaka");
  });

  test.each(["small", "standard", "production"])(
    "the API server accepts the manifests of the profile %s",
    async (profile) => {
      const printed = await inProject(
        project,
        "manifests",
        "--profile",
        profile,
        "--namespace",
        profile,
        "--json",
      );
      const { connection } = environment.client;
      for (const object of JSON.parse(printed.stdout).items as Manifest[]) {
        const answer = await apply(connection, object, object.kind === "Namespace" ? "for-real" : "dry-run");
        expect(answer, `${object.kind} ${object.metadata.name}`).toMatchObject({
          warnings: [],
          message: undefined,
        });
      }
    },
  );

  test("uninstalling deletes the objects, and then the CRDs", async () => {
    const env = { KUBECONFIG: join(folder, "kubeconfig") };
    const args = ["uninstall", "--yes", "--crds"];
    const { code, stderr } = await run(args, {
      command: programIn(project),
      cwd: project,
      env,
      longestMillis: 120_000,
    });
    expect(stderr).toBe("");
    expect(code).toBe(0);
    // The API server deletes a CRD after its answer.
    for (const kind of [Greeting, Parcel])
      await expect
        .poll(() => environment.client.list(kind as Kind).catch(({ status }) => status), { timeout: 60_000 })
        .toBe(404);
  });
});

test("a folder without a project is reported, with how to create one", async () => {
  const { code, stderr } = await run(["worker", "all"], {
    command: programIn(production),
    cwd: join(folder, "tarballs"),
  });
  expect(code).toBe(2);
  expect(stderr).toContain(`${basename(join(folder, "tarballs"))} is not in a Denrei project`);
  expect(stderr).toContain("npx denrei init my-operator");
});

/** The packages of a release, installed outside this repository. The tests of docs/tutorial.md use them in a project, too. */
import { execFile } from "node:child_process";
import {
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
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { externalKind } from "../../bus/kube/kind.ts";
import type { KubeObject } from "../../bus/kube/object.ts";
import { root, run } from "../cli/program.ts";
import { startLocalTestEnvironment } from "../harness/environment.ts";
import { platformPrograms, programs } from "../harness/programs.ts";
import { Lines } from "../ket/lines.ts";
import { makeProjectImage } from "./projectimage.ts";
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
  return made;
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
  expect(cases.stdout + cases.stderr).toContain("Tests  6 passed (6)");
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
  expect(stdout).not.toContain("zundoko");
});

const Greeting = externalKind<KubeObject<{ who: string }, { message?: string }>>({
  group: "greeting.example.com",
  version: "v1alpha1",
  kind: "Greeting",
  plural: "greetings",
});

test("the image of a project runs its bridge and its functions", async () => {
  const image = await makeProjectImage(project, join(folder, "tarballs"), join(folder, "image"));
  expect(existsSync(join(image.app, "node_modules/@denrei/cli"))).toBe(false);
  expect(existsSync(join(image.app, "test"))).toBe(false);
  const crds = await inProject(project, "crds", "--json");
  const widgets = readFileSync(join(project, "test/crds/widgetclasses.acme.example.yaml"), "utf8");
  const environment = await startLocalTestEnvironment({
    crds: [...JSON.parse(crds.stdout).items, parse(widgets)],
  });
  onTestFinished(() => environment.stop());
  const { platform, client } = environment;
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(kubeconfig, readFileSync(platform.kubeconfigPath));
  for (const args of [["bridge"], ["worker", "all"]]) {
    const log = new Lines();
    await platform.spawn({
      name: `image-${args[0]}`,
      ...image.command(args),
      cwd: image.app,
      env: { ...image.env, KUBECONFIG: kubeconfig, NATS_URL: platform.natsUrl, VITEST: undefined },
      onLine: (line) => log.push(line),
      ready: () => log.until((line) => /"msg":"(bridge|worker) ready"/.test(line)),
      graceMillis: 12_000,
    });
  }
  const greeting = parse(readFileSync(join(project, "test/cases/greeting/first/given.yaml"), "utf8"));
  greeting.metadata.namespace = "default";
  await client.create(Greeting, greeting, { fieldManager: "test" });
  const at = { namespace: "default", name: "first" };
  await environment.until(Greeting, at, ({ status }) => status?.message === "Hello, Kaito!");
}, 300_000);

test("a folder without a project is reported, with how to create one", async () => {
  const { code, stderr } = await run(["worker", "all"], {
    command: programIn(production),
    cwd: join(folder, "tarballs"),
  });
  expect(code).toBe(2);
  expect(stderr).toContain(`${basename(join(folder, "tarballs"))} is not in a Denrei project`);
  expect(stderr).toContain("npx denrei init my-operator");
});

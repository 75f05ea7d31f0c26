/** The packages of a release, installed in projects outside this repository. */
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
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildPackages, packPackages } from "../../deploy/packages/build.ts";
import { run, start, testFolder } from "../cli/program.ts";
import { startDev } from "../dev/project.ts";
import { platformPrograms, programs } from "../harness/programs.ts";

await programs(...platformPrograms);

const command = promisify(execFile);
/** Names of packages, and their tarballs as dependencies. */
let tarballs: Readonly<Record<string, string>>;
let folder: string;
/** A project that only runs functions. */
let production: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "denrei-packages-"));
  const built = await buildPackages(join(folder, "packages"));
  const paths = await packPackages(built, join(folder, "tarballs"));
  tarballs = Object.fromEntries(built.map(({ name }, at) => [name, `file:${paths[at]}`]));
  production = join(folder, "production");
  mkdirSync(production);
  await install(production, { dependencies: { denrei: "" } });
}, 600_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Manifest {
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  overrides?: Record<string, string>;
}

/** Installs a project with the tarballs instead of published packages. */
async function install(project: string, manifest: Manifest, ...args: readonly string[]): Promise<void> {
  for (const listed of [manifest.dependencies, manifest.devDependencies])
    for (const name of Object.keys(listed ?? {}))
      if (listed && tarballs[name] !== undefined) listed[name] = tarballs[name];
  const own = { ...manifest.dependencies, ...manifest.devDependencies };
  manifest.overrides = Object.fromEntries(
    Object.entries(tarballs).map(([name, path]) => [name, name in own ? `$${name}` : path]),
  );
  writeFileSync(join(project, "package.json"), JSON.stringify(manifest));
  await command("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error", ...args], { cwd: project });
}

/** Every installed package, by its path below `node_modules`. */
const installed = (project: string): string[] =>
  readdirSync(join(project, "node_modules"), { recursive: true, encoding: "utf8" }).filter(
    (path) => /(^|node_modules\/)(@[^/]+\/)?[^/]+\/package\.json$/.test(path) && !path.startsWith(".bin/"),
  );

const bytesOf = (path: string): number =>
  readdirSync(path, { recursive: true, encoding: "utf8" })
    .map((name) => statSync(join(path, name)))
    .reduce((sum, file) => sum + (file.isFile() ? file.size : 0), 0);

test("production needs at most 40 packages and 25 MB, none of which compiles manifests or serves pages", () => {
  const packages = installed(production);
  expect(packages).toContain("denrei/package.json");
  expect(packages.length).toBeLessThanOrEqual(40);
  expect(bytesOf(join(production, "node_modules"))).toBeLessThanOrEqual(25_000_000);
  for (const name of ["cdk8s", "hono", "openid-client", "@connectrpc/connect", "@denrei/cli"])
    expect(existsSync(join(production, "node_modules", name))).toBe(false);
});

/** Runs the command line that a project has installed. */
const programIn = (project: string): [string, string] => [
  process.execPath,
  join(project, "node_modules/denrei/command/denrei.js"),
];

test("a new project type-checks, passes its cases, prints its manifests, and reloads saved code", async () => {
  const project = join(folder, "my-operator");
  const created = await run(["init", project], { command: programIn(production), cwd: folder });
  expect(created.stdout).toContain("npm install");
  await install(project, JSON.parse(readFileSync(join(project, "package.json"), "utf8")));
  const zods = installed(project).filter((path) => /(^|\/)zod\/package\.json$/.test(path));
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
  expect(cases.stdout + cases.stderr).toContain("Tests  2 passed (2)");
  const crds = await run(["crds"], { command: programIn(project), cwd: project });
  expect(crds.stdout).toContain("name: greetings.greeting.example.com");
  expect(crds.stdout).not.toContain("zundoko");
  const manifests = await run(["manifests", "--profile", "small"], {
    command: programIn(project),
    cwd: project,
  });
  expect(manifests).toMatchObject({ code: 0, stdout: expect.stringContaining("image: my-operator:0.1.0") });

  const here = testFolder();
  const dev = await startDev(
    {
      start: (args, env = {}) =>
        start(args, { command: programIn(project), cwd: project, env: { ...here.env, ...env } }),
    },
    ["greeting"],
  );
  const file = join(project, "functions/greeting/greeting.ts");
  writeFileSync(file, readFileSync(file, "utf8").replace("Hello,", "Good morning,"));
  await dev.printed("saved functions/greeting/greeting.ts");
  await dev.printed("Code 2 runs");
  dev.running.process.kill("SIGINT");
  expect(await dev.running.ended).toMatchObject({ code: 130, signal: null });
}, 600_000);

test("a folder without a project is reported, with how to create one", async () => {
  const { code, stderr } = await run(["worker", "all"], {
    command: programIn(production),
    cwd: join(folder, "tarballs"),
  });
  expect(code).toBe(2);
  expect(stderr).toContain(`${basename(join(folder, "tarballs"))} is not in a Denrei project`);
  expect(stderr).toContain("npx denrei init my-operator");
});

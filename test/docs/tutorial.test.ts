/** Follows docs/tutorial.md outside this repository, in a project that installs the packages of a release. */
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Environment, type Running, root, run, start, testFolder } from "../cli/program.ts";
import { platformPrograms, programs } from "../harness/programs.ts";
import { install, packedPackages, programIn, type Tarballs } from "../packages/tarballs.ts";
import { type Edit, edit, isLine, stepsOf } from "./steps.ts";

const { kubectl } = await programs("kubectl", ...platformPrograms);

const page = readFileSync(join(root, "docs/tutorial.md"), "utf8");
const project = "my-operator";
const longestMillis = 900_000;

let tarballs: Tarballs;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "denrei-tutorial-"));
  tarballs = await packedPackages(join(folder, "tarballs"));
}, longestMillis);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The reader's two terminals. */
class Reader {
  /** The first terminal, where `npm run dev` runs. */
  dev: Running | undefined;
  private readonly env: Environment;
  private nextLine = 0;
  private exported: Record<string, string> = {};
  private cwd = folder;

  constructor(env: Environment) {
    this.env = { ...env, NO_COLOR: "1", PATH: `${dirname(kubectl.path)}${delimiter}${process.env.PATH}` };
  }

  /** Runs the commands of a block in the second terminal. */
  private async shell(text: string) {
    const port = /webhooks to http:\/\/127\.0\.0\.1:(\d+)/.exec(this.dev?.lines.all.join("\n") ?? "")?.[1];
    return run(["-ec", text.replace("127.0.0.1:8080", `127.0.0.1:${port}`)], {
      command: ["/bin/sh"],
      cwd: this.cwd,
      env: { ...this.env, ...this.exported },
    });
  }

  async command(text: string, output: readonly string[] | undefined): Promise<void> {
    if (text === `npm create denrei@latest ${project}`) await this.create();
    else if (text === `cd ${project}\nnpm install`) await this.install();
    else if (text.startsWith("npm run dev")) await this.startDev(text.split(" "));
    else if (output === undefined) expect(await this.shell(text), text).toMatchObject({ code: 0 });
    else
      await expect
        .poll(async () => this.outcome(text, output), { timeout: 240_000, interval: 500 })
        .toEqual({ missing: [], fails: text.endsWith("# fails") });
  }

  /** What a command does not print of the expected output. */
  private async outcome(text: string, output: readonly string[]) {
    const { code, stdout, stderr } = await this.shell(text);
    const lines = `${stdout}\n${stderr}`.split("\n");
    const missing = output.filter((expected) => !lines.some((line) => isLine(expected, line)));
    return missing.length > 0 ? { missing, lines } : { missing, fails: code !== 0 };
  }

  /** As `npm create` does with published packages. */
  private async create(): Promise<void> {
    const temporary = mkdtempSync(join(folder, "create-"));
    await install(temporary, { dependencies: { "create-denrei": "" } }, tarballs);
    const program = join(temporary, "node_modules/.bin/create-denrei");
    const created = await run([project], { command: [program], cwd: folder, env: this.env });
    expect(created).toMatchObject({ stderr: "", code: 0 });
    this.cwd = join(folder, project);
  }

  private install(): Promise<void> {
    return install(this.cwd, JSON.parse(readFileSync(join(this.cwd, "package.json"), "utf8")), tarballs);
  }

  private async startDev(words: readonly string[]): Promise<void> {
    await this.stopDev();
    const args = words.slice(words.indexOf("--") + 1 || words.length);
    this.dev = start(["dev", ...args], {
      command: programIn(this.cwd),
      cwd: this.cwd,
      env: this.env,
      longestMillis,
    });
    this.nextLine = 0;
    const line = await this.dev.lines.until((text) => text.includes("export KUBECONFIG="), 180_000);
    this.exported = Object.fromEntries(
      [...line.matchAll(/(\w+)=(\S+)/g)].map(([, name, value]) => [name, value]),
    );
    await this.dev.lines.until((text) => text.includes("Ctrl-C stops everything"), 180_000);
  }

  async stopDev(): Promise<void> {
    this.dev?.process.kill("SIGINT");
    if (this.dev) expect(await this.dev.ended).toMatchObject({ code: 130, signal: null });
  }

  /** Waits until the first terminal has all of these lines, in this order. */
  async sees(output: readonly string[]): Promise<void> {
    for (const expected of output) {
      const lines = this.dev?.lines;
      const line = await lines
        ?.until((text) => isLine(expected, text), 60_000, this.nextLine)
        .catch((cause) => {
          throw new Error(`not in the first terminal: ${expected}`, { cause });
        });
      this.nextLine = (lines?.all.indexOf(line ?? "", this.nextLine) ?? 0) + 1;
    }
  }

  edit(step: Edit): void {
    edit(this.cwd, step);
  }

  files(): string[] {
    return readdirSync(this.cwd, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name).slice(this.cwd.length + 1));
  }
}

test(
  "each step of the page works, with the result that it shows",
  async () => {
    const here = testFolder();
    const reader = new Reader(here.env);
    const steps = stepsOf(page);
    for (const [at, step] of steps.entries()) {
      const next = steps[at + 1];
      if (step.kind === "file" || step.kind === "change") reader.edit(step);
      else if (step.kind === "first terminal") await reader.sees(step.lines);
      else if (step.kind === "command")
        await reader.command(step.text, next?.kind === "output" ? next.lines : undefined);
      if (at === 0) expect(reader.files().filter((path) => !isListed(path))).toEqual([]);
    }
    await reader.stopDev();
  },
  longestMillis,
);

/** Whether the table of the page lists a file, or the folder that it is in. */
function isListed(path: string): boolean {
  const table = page.slice(page.indexOf("| file |"), page.indexOf("Node runs"));
  return [...table.matchAll(/`([^`]+)`/g)].some(
    ([, listed = ""]) => path === listed || path.startsWith(`${listed}/`),
  );
}

test("the project type-checks with a function of all features, with and without our tsconfig.json", async () => {
  const cwd = join(folder, project);
  copyFileSync(join(root, "test/fixtures/shop.ts"), join(cwd, "functions/shop.ts"));
  const reference = readFileSync(join(root, "docs/functions.md"), "utf8");
  const [, extended = ""] = /```json\n(.*?)```/s.exec(reference) ?? [];
  const options = {
    strict: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    lib: ["es2024"],
  };
  for (const option of Object.keys(options)) expect(reference).toContain(`\`${option}\``);
  const alone = { compilerOptions: { module: "nodenext", ...options }, include: ["functions", "test"] };
  for (const config of [extended, JSON.stringify(alone)]) {
    writeFileSync(join(cwd, "tsconfig.json"), config);
    const compiler = join(cwd, "node_modules/typescript/bin/tsc");
    const checked = await run([compiler, "--noEmit", "-p", "."], { command: [process.execPath], cwd });
    expect(checked).toMatchObject({ stdout: "", stderr: "", code: 0 });
  }
});

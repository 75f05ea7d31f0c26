import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundleProject } from "./bundle.ts";
import { partOf } from "./undici.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

let scratch: string;
beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), "denrei-bundle-"));
});
afterAll(() => rm(scratch, { recursive: true, force: true }));

/** Writes a project that has the packages of this repository, and bundles it into a folder without any. */
async function bundled(
  name: string,
  files: Readonly<Record<string, string>>,
  external: readonly string[] = [],
  warnings: string[] = [],
): Promise<string> {
  const folder = join(scratch, name, "project");
  await mkdir(folder, { recursive: true });
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  for (const [path, text] of Object.entries(files)) await writeFile(join(folder, path), text);
  const out = join(scratch, name, "dist");
  const project = { name, folder, file: join(folder, "denrei.config.ts") };
  await bundleProject({ project, out, external, onWarning: (text) => warnings.push(text) });
  await rm(folder, { recursive: true });
  return out;
}

/** Runs Node in the root folder, where no package can be found. */
async function node(...args: readonly string[]) {
  try {
    return { code: 0, ...(await promisify(execFile)(process.execPath, args, { cwd: "/" })) };
  } catch (error) {
    return error as { code: number; stdout: string; stderr: string };
  }
}

const listing = (path: string): string =>
  `import { defineConfig } from "denrei/project";
   export default defineConfig({ functions: { probe: () => import("${path}") } });`;

/** The source of a function with further properties, after other statements. */
const probe = (properties = "", statements = ""): string => `
  import { ConfigMap, defineFunction } from "denrei";
  ${statements}
  const fn = defineFunction({ name: "probe", for: ConfigMap, async reconcile() {} });
  export default { ...fn, ${properties} };`;

describe("a bundle", () => {
  let out: string;
  const denrei = (...args: string[]) => node(join(out, "denrei.js"), ...args);
  /** What the function of the project returns for an expression on its module. */
  const evaluated = async (expression: string): Promise<unknown> => {
    const program = `
      const { default: config } = await import(${JSON.stringify(join(out, "denrei.config.js"))});
      const probe = (await config.functions.probe()).default;
      console.log(JSON.stringify(await (${expression})));`;
    const { stdout, stderr } = await node("--input-type=module", "--eval", program);
    return JSON.parse(stdout || JSON.stringify(stderr));
  };
  beforeAll(async () => {
    out = await bundled("probing", {
      "denrei.config.ts": listing("./probe.ts"),
      "probe.ts": probe(
        "builtinChart, sourceChart, dispatcher, fetch, request, thrown",
        `import { builtinChart } from "@denrei/functions/paas/charts/builtin";
        import { sourceChart } from "@denrei/functions/paas/charts/source";
        import { Agent, fetch, request, type Dispatcher } from "undici";
        import { thrown } from "./throwing.ts";
        const dispatcher: Dispatcher = new Agent();`,
      ),
      "throwing.ts": "export const thrown = () => new Error('thrown').stack;",
    });
  });

  test("needs neither the project nor packages", () => {
    expect(existsSync(join(out, "../project"))).toBe(false);
  });

  test("prints its version, and the same errors and exit codes as the sources", async () => {
    const { version } = JSON.parse(await readFile(join(root, "bus/package.json"), "utf8"));
    expect(await denrei("--version")).toMatchObject({ code: 0, stdout: `${version}\n` });
    expect(await denrei("prob")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("unknown command 'prob'"),
    });
    expect(await denrei("worker", "prob")).toMatchObject({
      code: 2,
      stderr: 'denrei: unknown function "prob" (did you mean probe?): expected one of probe, or all\n',
    });
  });

  test("fills the compile cache without leaving anything else", async () => {
    expect(await node(join(out, "compile.js"))).toMatchObject({ code: 0, stderr: "" });
  });

  test("creates a project from its copy of the template", async () => {
    const made = join(scratch, "made");
    expect(await denrei("init", made)).toMatchObject({ code: 0 });
    expect(await readdir(made)).toContain("denrei.config.ts");
  });

  test("renders the built-in chart, and a chart of a site in a process with cdk8s", async () => {
    const application = {
      metadata: { name: "web", namespace: "default", labels: {}, annotations: {} },
      spec: { image: "web:1", domains: ["web.example.com"] },
    };
    const rendered = (chart: string) =>
      evaluated(`${chart}.render(${JSON.stringify(application)}, {}, new AbortController().signal)`);
    expect(await rendered("probe.builtinChart")).toContainEqual(
      expect.objectContaining({ kind: "Deployment" }),
    );
    const source = `
      import { ApiObject } from "cdk8s";
      export default ({ app }, chart) => {
        new ApiObject(chart, "map", { apiVersion: "v1", kind: "ConfigMap", metadata: { name: app.metadata.name } });
        return [];
      };`;
    expect(
      await rendered(`probe.sourceChart({ source: ${JSON.stringify(source)}, language: "js" })`),
    ).toEqual([{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "web" } }]);
  });

  test("sends requests with the parts of undici that it contains", async () => {
    const server = `
      const { createServer } = await import("node:http");
      const server = createServer((asked, answer) => answer.end(asked.method + " " + asked.url)).listen(0);
      const url = "http://127.0.0.1:" + server.address().port + "/path?query=1";`;
    const asked = `(async () => { ${server}
      const { body } = await probe.request(url, { dispatcher: probe.dispatcher });
      const { body: posted } = await probe.dispatcher.request({ origin: new URL(url).origin, path: "/p", method: "POST" });
      const answer = await probe.fetch(url, { dispatcher: probe.dispatcher });
      const all = [await body.text(), await posted.text(), await answer.text()];
      server.close(); await probe.dispatcher.close();
      return all;
    })()`;
    expect(await evaluated(asked)).toEqual(["GET /path?query=1", "POST /p", "GET /path?query=1"]);
    expect(await evaluated("probe.request('', {}).catch?.(String)")).toContain("invalid url");
  });

  test("names functions and files in stack traces", async () => {
    expect(await evaluated("probe.thrown()")).toMatch(
      /^Error: thrown\n\s+at .*thrown .*\/dist\/probe-[^/]+\.js:\d+:\d+/,
    );
  });
});

test("the parts of undici are those of its entry point", () => {
  const require = createRequire(import.meta.url);
  const whole = require("undici") as Record<string, unknown>;
  const parts = Object.keys(whole).flatMap((name) => {
    const path = /import one from "(undici\/[^"]+)"/.exec(partOf(name) ?? "")?.[1];
    return path === undefined ? [] : [{ name, path }];
  });
  expect(parts.length).toBeGreaterThan(3);
  for (const { name, path } of parts) expect([name, require(path) === whole[name]]).toEqual([name, true]);
});

describe("building", () => {
  const absent = "no-such-package";
  const simple = { "denrei.config.ts": listing("./probe.ts"), "probe.ts": probe() };

  test("fails for a package that is not installed, and names the file that imports it", async () => {
    const files = { ...simple, "probe.ts": `import one from "${absent}";\nexport default one;` };
    await expect(bundled("missing", files)).rejects.toThrow(/no-such-package, imported by .*probe\.ts/);
  });

  test("leaves out an optional peer dependency that is not installed", async () => {
    const files = {
      ...simple,
      "probe.ts": probe(`absent: () => import("${absent}")`),
      "package.json": JSON.stringify({
        peerDependencies: { [absent]: "1" },
        peerDependenciesMeta: { [absent]: { optional: true } },
      }),
    };
    const out = await bundled("optional", files);
    expect((await node(join(out, "denrei.js"), "--version")).code).toBe(0);
  });

  test("copies the files that a module names by URL, and warns about a module that uses its path", async () => {
    const files = {
      ...simple,
      "probe.ts": probe(
        "reconcile() { return [text, import.meta.dirname]; }",
        `import { readFileSync } from "node:fs";
        const text = readFileSync(new URL("./words.txt", import.meta.url), "utf8");`,
      ),
      "words.txt": "from a file",
    };
    const warnings: string[] = [];
    const out = await bundled("files", files, [], warnings);
    expect(warnings).toEqual([expect.stringMatching(/^probe\.ts uses its path, .* name files by new URL/)]);
    const program = `const { default: config } = await import(${JSON.stringify(join(out, "denrei.config.js"))});
      console.log((await config.functions.probe()).default.reconcile()[0]);`;
    expect(await node("--input-type=module", "--eval", program)).toMatchObject({ stdout: "from a file\n" });
  });

  test("records what a function declares, also if its module keeps a timer", async () => {
    const out = await bundled("timer", { ...simple, "probe.ts": probe("", "setInterval(() => {}, 1000);") });
    const recorded = JSON.parse(await readFile(join(out, "denrei.needs.json"), "utf8"));
    expect(recorded).toMatchObject({ probe: { kinds: [{ kind: "ConfigMap" }] } });
    expect(await readdir(out)).not.toContain("needs.js");
  });

  test("fails for a function that does not load, with its error", async () => {
    const files = { ...simple, "probe.ts": probe("", "throw new Error('TEAM is not set');") };
    await expect(bundled("throwing", files)).rejects.toThrow(
      /expected the functions of .*denrei\.config\.ts to load.* unexpected error\nError: TEAM is not set/,
    );
  });

  test("copies an external package with what it depends on", async () => {
    const files = { ...simple, "probe.ts": probe("pino", 'import pino from "pino";') };
    const out = await bundled("external", files, ["pino"]);
    expect(await readdir(join(out, "node_modules"))).toEqual(
      expect.arrayContaining(["pino", "sonic-boom", "thread-stream"]),
    );
    expect((await node(join(out, "denrei.js"), "worker", "x")).stderr).toContain('unknown function "x"');
  });

  test("replaces an earlier bundle, and refuses a folder with other files", async () => {
    const out = await bundled("again", simple);
    await writeFile(join(out, "old.js"), "");
    await rm(join(out, "../project"), { recursive: true, force: true });
    expect(await readdir(await bundled("again", simple))).not.toContain("old.js");
    const folder = join(scratch, "foreign");
    await mkdir(folder);
    await writeFile(join(folder, "notes"), "");
    const project = { name: "x", folder: scratch, file: join(scratch, "denrei.config.ts") };
    await expect(
      bundleProject({ project, out: folder, external: [], onWarning: () => undefined }),
    ).rejects.toThrow("has other files");
    expect(await readdir(folder)).toEqual(["notes"]);
  });
});

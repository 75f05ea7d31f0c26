import { spawn } from "node:child_process";
import { once } from "node:events";
import { builtinModules } from "node:module";
import { connect, createServer, type Server } from "node:net";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { chartOf, renderedBy, renderedFrom } from "./sources.ts";
import { waysOut } from "./waysout.ts";

let server: Server;
let port: number;
let reached = 0;

beforeAll(async () => {
  server = createServer((socket) => {
    reached += 1;
    socket.on("error", () => undefined).destroy();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  port = typeof address === "object" ? (address?.port ?? 0) : 0;
});
afterAll(() => void server.close());

/** What a chart reports after trying all of these. */
async function outcomes(bodies: Readonly<Record<string, string>>): Promise<Record<string, string>> {
  const source = `
    import { createHash } from "node:crypto";
    import { ApiObject, Helm, Include, Yaml } from "cdk8s";
    const attempts = {
      ${Object.entries(bodies)
        .map(([name, body]) => `${JSON.stringify(name)}: async (port, chart) => { ${body} },`)
        .join("\n")}
    };
    export default async ({ config }, chart) => {
      const data = {};
      for (const [name, attempt] of Object.entries(attempts)) {
        try { data[name] = "done: " + String(await attempt(config.port, chart)); } catch (error) { data[name] = "failed: " + error; }
      }
      return { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data };
    };`;
  const [found] = await renderedBy(chartOf(source, { language: "js" }), "web", { port });
  return (found as { data: Record<string, string> }).data;
}

describe("plain Node, but not a chart, reaches the network by", () => {
  test.each(Object.keys(waysOut))("%s", async (name) => {
    const before = reached;
    const program = `await (async (port) => { ${waysOut[name]} })(${port}); setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ["--input-type=module", "--no-warnings", "-e", program], {
      cwd: fileURLToPath(new URL(".", import.meta.url)),
      stdio: ["pipe", "pipe", "pipe"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    await vi.waitUntil(() => reached > before || child.exitCode !== null, { timeout: 60_000 });
    expect(reached).toBeGreaterThan(before);
  });

  test("none of them", async () => {
    const found = await outcomes(waysOut);
    expect(Object.keys(found).sort()).toEqual(Object.keys(waysOut).sort());
    expect(Object.entries(found).filter(([, outcome]) => !outcome.startsWith("failed: "))).toEqual([]);
    // Connections are accepted in order: once ours arrives, all earlier ones have.
    const before = reached;
    const ours = connect(port, "127.0.0.1");
    await once(ours, "close");
    expect(reached).toBe(before + 1);
  });
});

test("allows imports of only those modules of Node that compute", async () => {
  const names = builtinModules.filter((name) => !name.startsWith("node:"));
  const all = [...names, ...names.map((name) => `node:${name}`), "node:test", "node:sqlite", "node:sea"];
  const found = await outcomes(
    Object.fromEntries(all.map((name) => [name, `await import(${JSON.stringify(name)});`])),
  );
  const allowed = Object.keys(found).filter((name) => found[name]?.startsWith("done"));
  const computing = ["assert", "buffer", "crypto", "path", "querystring", "url", "util"];
  expect(allowed.sort()).toEqual([...computing, ...computing.map((name) => `node:${name}`)].sort());
});

test("lists the allowed imports when one is refused", async () => {
  await expect(renderedFrom(`import net from "node:net"; export default () => [];`)).rejects.toMatchObject({
    reason: "ChartNotLoaded",
    message: expect.stringMatching(/charts may import cdk8s, constructs, .*but not "node:net"/),
  });
});

test("denies access to files and programs, also through cdk8s", async () => {
  const found = await outcomes({
    "a file as a module": `await import('file:///etc/hostname');`,
    "a file of ours": `await import(${JSON.stringify(new URL("../../../bus/kube/domain.ts", import.meta.url).href)});`,
    "a file of the runner": `await import(${JSON.stringify(new URL("../../../functions/paas/charts/source/child/lines.ts", import.meta.url).href)});`,
    "a file of cdk8s": `await import("cdk8s/lib/_child_process.js");`,
    "a package of ours": `await import("yaml");`,
    "YAML of a file": `Yaml.load("/etc/hostname");`,
    "YAML to a file": `Yaml.save("/tmp/a-chart-was-here", [{}]);`,
    "YAML to a temporary file": `Yaml.tmp([{}]);`,
    "a file that is included": `new Include(chart, "include", { url: "/etc/hostname" });`,
    "a chart of Helm": `new Helm(chart, "helm", { chart: "a" });`,
    "a library of OpenSSL": `(await import("node:crypto")).setEngine("/lib/x86_64-linux-gnu/libm.so.6");`,
    "WebAssembly, whose memory has no limit": `new WebAssembly.Memory({ initial: 1 });`,
  });
  expect(Object.entries(found).filter(([, outcome]) => !outcome.startsWith("failed: "))).toEqual([]);
});

test("hides the worker's environment, and all of the process that has side effects", async () => {
  vi.stubEnv("NATS_URL", "nats://127.0.0.1:4222");
  onTestFinished(() => void vi.unstubAllEnvs());
  const found = await outcomes({
    env: "return JSON.stringify(process.env);",
    argv: "return JSON.stringify(process.argv);",
    process: `return Object.getOwnPropertyNames(process).filter((name) => typeof process[name] === "function").sort();`,
    globals: `return Object.getOwnPropertyNames(globalThis).filter((name) => /fetch|socket|source|request|channel|worker|require|module|navigator|storage/i.test(name));`,
  });
  expect(found).toEqual({
    env: 'done: {"CDK8S_LEGACY_HASH":"1"}',
    argv: "done: []",
    process: "done: cwd,emitWarning,nextTick,uptime",
    globals: "done: ",
  });
});

// EventEmitter is not part of the language, so a chart could change its prototype and observe emitters.
test("seals Node's own process, in case a chart gets hold of it", async () => {
  const { found } = await outcomes({
    found: `
      let emitter = createHash("sha256");
      while (emitter.constructor.name !== "EventEmitter") emitter = Object.getPrototypeOf(emitter);
      const seen = new Set();
      for (const name of ["emit", "on", "listenerCount", "addListener"]) {
        const before = emitter[name];
        emitter[name] = function (...args) { seen.add(this); return before.apply(this, args); };
      }
      new Promise((_, reject) => reject(new Error("unhandled")));
      await new Promise((done) => setTimeout(done, 1));
      const process = [...seen].find((each) => "reallyExit" in each);
      if (process === undefined) return "nothing";
      return ["binding", "_linkedBinding", "getBuiltinModule", "dlopen", "execve", "stdin", "stdout", "stderr", "kill", "_kill", "mainModule",
        "_getActiveHandles", "openStdin", "loadEnvFile", "chdir"].filter((name) => process[name] !== undefined).join() || "an empty one";`,
  });
  expect(found).toMatch(/^done: (nothing|an empty one)$/);
});

test("exposes no functions in stack traces", async () => {
  const found = await outcomes({
    frames: `
      let frames = [];
      Error.prepareStackTrace = (_, all) => { frames = all; return ""; };
      void new Error().stack;
      const values = frames.flatMap((frame) => [frame.getThis(), frame.getFunction()]);
      if (values.every((value) => value === undefined)) throw new Error("nothing of " + frames.length);`,
  });
  expect(found.frames).toMatch(/^failed: /);
});

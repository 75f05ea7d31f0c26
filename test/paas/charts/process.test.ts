import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { Chart } from "../../../functions/paas/charts/chart.ts";
import { processChart } from "../../../functions/paas/charts/process.ts";
import { application } from "./expected.ts";
import { site } from "./sites.ts";
import { generous, isAlive } from "./sources.ts";

/** A chart in shell or in JavaScript. */
const shell = (script: string, deadlineMillis = 60_000): Chart =>
  processChart({ command: "sh", args: ["-c", script], directory: "/", deadlineMillis });
const node = (script: string): Chart =>
  processChart({ command: process.execPath, args: ["-e", script], directory: "/" });
const render = (chart: Chart, signal = generous()): Promise<unknown[]> =>
  chart.render(application(), site({ colour: "red" }), signal);

const configMap = (data: object) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data });

test("passes the application on standard input and the configuration as a file, without the worker's environment", async () => {
  vi.stubEnv("NATS_URL", "nats://127.0.0.1:4222");
  onTestFinished(() => void vi.unstubAllEnvs());
  const [found] = await render(
    node(`
      const { existsSync, readFileSync } = require("node:fs");
      const { CONFIG_PATH, HOME, PATH, ...rest } = process.env;
      const input = readFileSync(0, "utf8");
      console.log(JSON.stringify({
        app: JSON.parse(input), lines: input.split("\\n").length, config: JSON.parse(readFileSync(CONFIG_PATH, "utf8")),
        home: CONFIG_PATH.startsWith(HOME) && existsSync(HOME), path: PATH, rest, configPath: CONFIG_PATH,
      }));`),
  );
  const { configPath, ...received } = found as { configPath: string };
  expect(received).toEqual({
    app: application(),
    lines: 2,
    config: site({ colour: "red" }),
    home: true,
    path: process.env.PATH,
    rest: {},
  });
  await expect(readFile(configPath)).rejects.toMatchObject({ code: "ENOENT" });
});

test("parses each YAML document as an object, skips empty ones, and does not require reading the input", async () => {
  const one = "apiVersion: v1\\nkind: ConfigMap\\nmetadata: { name: a }\\ndata: { n: 1 }\\n";
  const chart = shell(`exec <&-; printf '${one}---\\n---\\n# nothing\\n---\\n${one}'; echo careful >&2`);
  expect(await render(chart)).toEqual([configMap({ n: 1 }), configMap({ n: 1 })]);
});

test("accepts a program that does not read a large input", async () => {
  const chart = shell("echo 'kind: A'");
  const args = ["x".repeat(1_000_000)];
  expect(await chart.render(application({ args }), site(), generous())).toEqual([{ kind: "A" }]);
});

describe("reports", () => {
  test.each<[string, string, string, string]>([
    ["that exits with a code", "echo 'no such colour' >&2; exit 3", "ChartThrew", "no such colour"],
    ["that exits with a code silently", "exit 3", "ChartThrew", "ended with code 3 and printed nothing on"],
    ["that is killed", "kill -9 $$", "ChartThrew", "ended with SIGKILL"],
    ["that prints only an error", "echo why >&2", "ChartThrew", "why"],
    ["that prints nothing", "echo ---", "ChartEmpty", "neither objects nor an error"],
    ["that prints invalid YAML", "echo 'a: ]'", "ChartOutputInvalid", "line 1, column 4"],
    [
      "that prints excessive aliases",
      `echo 'a: &a [1,1,1,1,1,1,1,1,1,1]'; for i in b c d e f g; do echo "$i: &$i [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]"; done; echo 'z: [*b,*c,*d,*e,*f,*g,*b,*c,*d,*e,*f,*g]'`,
      "ChartOutputInvalid",
      "alias",
    ],
    [
      "that prints endlessly",
      "yes",
      "ChartOutputInvalid",
      "standard output is longer than 4194304 characters",
    ],
  ])("a program %s", async (_, script, reason, message) => {
    await expect(render(shell(script))).rejects.toMatchObject({
      reason,
      message: expect.stringContaining(message),
    });
  });

  test("a missing program", async () => {
    const options = { args: [], directory: "/" };
    await expect(render(processChart({ ...options, command: "no-such-program" }))).rejects.toMatchObject({
      reason: "ChartNotLoaded",
      message: expect.stringContaining("cannot start no-such-program in /"),
    });
    const elsewhere = processChart({ command: "sh", args: [], directory: "/no/such/folder" });
    await expect(render(elsewhere)).rejects.toMatchObject({ reason: "ChartNotLoaded" });
  });
});

/** A folder for one test. */
async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "charts-test-"));
  onTestFinished(() => rm(path, { recursive: true }));
  return path;
}

describe("kills all started processes", () => {
  const inFolder = (directory: string, script: string, deadlineMillis = 60_000): Chart =>
    processChart({ command: "sh", args: ["-c", script], directory, deadlineMillis });
  /** Waits for the background process, and returns its pid. */
  const pidIn = async (directory: string): Promise<number> =>
    Number(await vi.waitFor(() => readFile(join(directory, "pid"), "utf8"), { timeout: 60_000 }));
  const background = "sleep 1000 & echo $! > new; mv new pid;";
  const gone = (pid: number) => vi.waitUntil(() => !isAlive(pid), { timeout: 60_000 });

  test("when the program ends", async () => {
    const directory = await folder();
    await expect(render(inFolder(directory, `${background} exit 1`))).rejects.toThrow(
      "sh ended with code 1 and printed nothing",
    );
    await gone(await pidIn(directory));
  });

  test("when it takes too long", async () => {
    const directory = await folder();
    await expect(render(inFolder(directory, `${background} wait`, 5000))).rejects.toMatchObject({
      reason: "ChartTimedOut",
      message: expect.stringContaining("sh did not end within 5 seconds"),
    });
    await gone(await pidIn(directory));
  });

  test("when it is aborted", async () => {
    const directory = await folder();
    const giveUp = new AbortController();
    const rendering = render(inFolder(directory, `${background} wait`), giveUp.signal);
    const failed = expect(rendering).rejects.toThrow("ownership was lost");
    const pid = await pidIn(directory);
    giveUp.abort(new Error("ownership was lost"));
    await failed;
    await gone(pid);
  });
});

test("starts nothing after an abort", async () => {
  const directory = await folder();
  const chart = processChart({ command: "touch", args: ["started"], directory });
  await expect(render(chart, AbortSignal.abort(new Error("gone")))).rejects.toThrow("gone");
  expect(await readdir(directory)).toEqual([]);
});

test("derives its id from the program", () => {
  const options = { command: "node", args: ["main.js"], directory: "/chart" };
  const { id } = processChart(options);
  expect(id).toMatch(/^process:[0-9a-f]{16}$/);
  expect(processChart({ ...options, deadlineMillis: 1 }).id).toBe(id);
  for (const other of [{ command: "deno" }, { args: [] }, { directory: "/" }, { version: "2" }]) {
    expect(processChart({ ...options, ...other }).id).not.toBe(id);
  }
});

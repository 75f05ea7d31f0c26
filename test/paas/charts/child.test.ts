import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { application } from "./expected.ts";
import { site } from "./sites.ts";
import { chartOf, generous, isAlive, renderedBy } from "./sources.ts";

const configMap = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: {} });
/** Returns a ConfigMap with the application's name, after doing what that name says. */
const source = `
const deeds = {
  spin() { for (;;) {} },
  wait() { return new Promise(() => {}); },
  async starve() { for (;;) await null; },
  hoard() { const all = []; for (;;) all.push(new Array(1e5).fill(all.length)); },
  buffers() { const all = []; for (;;) all.push(Buffer.alloc(1e7, 1)); },
  flood() { return { apiVersion: "v1", kind: "ConfigMap", data: { a: "x".repeat(10_000) } }; },
  async stray() { Promise.reject(new Error("stray")); setTimeout(() => { throw new Error("late"); }); await new Promise((done) => setTimeout(done, 5)); },
};
export default async ({ app }) =>
  (await deeds[app.metadata.name]?.()) ?? { apiVersion: "v1", kind: "ConfigMap", metadata: { name: app.metadata.name }, data: {} };
`;
const deadline = { deadlineMillis: 4000 };
const gone = (pid: number) => vi.waitUntil(() => !isAlive(pid), { timeout: 60_000 });

test("renders one application after another in one process", async () => {
  const chart = chartOf(source);
  expect(chart.pid).toBeUndefined();
  const names = ["a", "b", "c", "d"];
  const found = await Promise.all(names.map((name) => renderedBy(chart, name)));
  const { pid } = chart;
  expect(found).toEqual(names.map((name) => [configMap(name)]));
  expect(await renderedBy(chart, "a")).toEqual([configMap("a")]);
  expect(chart.pid).toBe(pid);
});

describe("a rendering that takes too long", () => {
  test.each(["spin", "wait", "starve"])(
    "(%s) is killed with its process, and the next one gets a new process",
    async (name) => {
      const chart = chartOf(source, deadline);
      await renderedBy(chart);
      const pid = chart.pid!;
      await expect(renderedBy(chart, name)).rejects.toMatchObject({
        reason: "ChartTimedOut",
        message: expect.stringContaining("within 4 seconds"),
      });
      await gone(pid);
      expect(await renderedBy(chart)).toEqual([configMap("web")]);
      expect(chart.pid).not.toBe(pid);
    },
  );

  test("is not repeated for a while", async () => {
    let now = 0;
    const chart = chartOf(source, { ...deadline, rememberMillis: 1000, now: () => now });
    const failure = await renderedBy(chart, "wait").catch((error) => error);
    expect(failure.reason).toBe("ChartTimedOut");
    await renderedBy(chart);
    const { pid } = chart;
    now = 999;
    await expect(renderedBy(chart, "wait")).rejects.toBe(failure);
    expect(chart.pid).toBe(pid);
    // Other applications and other sites are not affected.
    await expect(renderedBy(chart, "wait", { colour: "red" })).rejects.not.toBe(failure);
    now = 2000;
    await expect(renderedBy(chart, "wait")).rejects.not.toBe(failure);
    expect(isAlive(pid!)).toBe(false);
  });

  test("is detected while the source is loading", async () => {
    const chart = chartOf("for (;;) {}", deadline);
    const failure = await renderedBy(chart).catch((error) => error);
    expect(failure.reason).toBe("ChartTimedOut");
    await expect(renderedBy(chart, "api")).rejects.toBe(failure);
  });
});

test.each(["hoard", "buffers"])(
  "kills a rendering that exceeds its memory limit (%s), and does not repeat it",
  async (name) => {
    const chart = chartOf(source, { heapMegabytes: 48 });
    const failure = await renderedBy(chart, name).catch((error) => error);
    expect(failure).toMatchObject({
      reason: "ChartOutOfMemory",
      message: expect.stringContaining("the chart exceeded its memory limit of 48 MB."),
    });
    await expect(renderedBy(chart, name)).rejects.toBe(failure);
    expect(await renderedBy(chart)).toEqual([configMap("web")]);
  },
);

test("refuses output beyond the limit", async () => {
  const chart = chartOf(source, { maxOutput: 5000 });
  await expect(renderedBy(chart, "flood")).rejects.toMatchObject({
    reason: "ChartOutputInvalid",
    message: expect.stringContaining("characters, more than 5000. Make fewer or smaller objects."),
  });
  expect(await renderedBy(chart)).toEqual([configMap("web")]);
});

test("survives an unhandled rejection", async () => {
  const chart = chartOf(source);
  expect(await renderedBy(chart, "stray")).toEqual([configMap("stray")]);
  const { pid } = chart;
  expect(await renderedBy(chart)).toEqual([configMap("web")]);
  expect(chart.pid).toBe(pid);
});

test("replaces a killed process, and reports the rendering that it interrupted", async () => {
  const chart = chartOf(source);
  await renderedBy(chart);
  const waiting = renderedBy(chart, "wait");
  const rejection = expect(waiting).rejects.toMatchObject({
    reason: "ChartDied",
    message: expect.stringContaining("was killed by SIGKILL"),
  });
  process.kill(chart.pid!, "SIGKILL");
  await rejection;
  expect(await renderedBy(chart)).toEqual([configMap("web")]);
});

describe("the process ends", () => {
  test("when it has been idle for a while, and restarts on demand", async () => {
    const chart = chartOf(source, { idleMillis: 1 });
    await renderedBy(chart);
    await vi.waitUntil(() => chart.pid === undefined, { timeout: 60_000 });
    expect(await renderedBy(chart, "api")).toEqual([configMap("api")]);
  });

  test("when it is closed, also during a rendering, and does not restart", async () => {
    const chart = chartOf(source);
    await renderedBy(chart);
    const pid = chart.pid!;
    const waiting = [renderedBy(chart, "wait"), renderedBy(chart, "api")].map((each) =>
      expect(each).rejects.toMatchObject({ reason: "ChartDied" }),
    );
    await chart.close();
    expect(isAlive(pid)).toBe(false);
    await Promise.all(waiting);
    await expect(renderedBy(chart)).rejects.toThrow("the chart was replaced");
    expect(chart.pid).toBeUndefined();
  });

  test("when its parent process is killed", async () => {
    const parent = spawn(process.execPath, [fileURLToPath(new URL("./renders.ts", import.meta.url))], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void parent.kill("SIGKILL"));
    const [line] = await once(createInterface(parent.stdout), "line");
    const pid = Number(line);
    expect(isAlive(pid)).toBe(true);
    parent.kill("SIGKILL");
    await gone(pid);
  });
});

test("rejects an aborted rendering, and completes the others", async () => {
  const chart = chartOf(source, deadline);
  await renderedBy(chart);
  const [first, second] = [new AbortController(), new AbortController()];
  const render = (name: string, { signal }: AbortController) =>
    chart.render(application({}, { name }), site(), signal);
  const waiting = [
    render("wait", first),
    render("api", second),
    chart.render(application(), site(), generous()),
  ];
  const reason = new Error("ownership was lost");
  first.abort(reason);
  second.abort(reason);
  const found = await Promise.allSettled(waiting);
  expect(found).toEqual([
    { status: "rejected", reason },
    { status: "rejected", reason },
    { status: "fulfilled", value: [configMap("web")] },
  ]);
});

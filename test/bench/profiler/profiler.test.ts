import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { collectGarbage, heapBytes, profilerEnv, profilerSocket, startProfile } from "./profiler.ts";

const heldBytes = 64_000_000;

/**
 * Prints "ready" when it holds `heldBytes` and has a second thread, as a process with a watchdog has. It then calls the
 * function that a line names, and prints whether it is debugged. It exits when its standard input ends.
 */
const source = `
import { createInterface } from "node:readline";
import { Worker } from "node:worker_threads";
import { isDebugged } from "${new URL("../../../bus/config/debugger.ts", import.meta.url).href}";

let held = Buffer.alloc(${heldBytes});
function spin() {
  const until = performance.now() + 50;
  while (performance.now() < until);
}
const functions = {
  before() { spin(); },
  during() { spin(); },
  release() { held = undefined; },
};
const thread = new Worker("setInterval(() => undefined, 1000)", { eval: true });
thread.once("online", () => console.log("ready")).unref();
createInterface({ input: process.stdin }).on("line", (name) => {
  functions[name]();
  console.log(isDebugged());
});
`;

/** A process that was started to be measured. */
interface Measured {
  readonly profiler: string;
  /** Calls a function of it, and returns whether it is debugged. */
  call(name: "before" | "during" | "release"): Promise<string | undefined>;
  /** Ends its standard input, and returns its exit code and what it wrote to standard error. */
  end(): Promise<{ readonly code: number | null; readonly errors: string }>;
}

async function startMeasured(): Promise<Measured> {
  const directory = await mkdtemp(join(tmpdir(), "denrei-profiler-"));
  const child = spawn(process.execPath, ["--input-type=module", "--eval", source], {
    env: { ...process.env, NODE_NO_WARNINGS: "1", ...profilerEnv(directory) },
  });
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await rm(directory, { recursive: true });
  });
  let errors = "";
  child.stderr.on("data", (data) => {
    errors += String(data);
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const { value } = await lines.next();
  expect(value, errors).toBe("ready");
  return {
    profiler: profilerSocket(directory, child.pid ?? 0),
    async call(name) {
      child.stdin.write(`${name}\n`);
      return (await lines.next()).value;
    },
    async end() {
      child.stdin.end();
      const [code] = (await once(child, "close")) as [number | null];
      return { code, errors };
    },
  };
}

test("profiler - records the functions that run between start and stop, and the process is not debugged", async () => {
  const { profiler, call } = await startMeasured();
  expect(await call("before")).toBe("false");
  const stop = await startProfile(profiler);
  expect(await call("during")).toBe("false");
  const { nodes } = await stop();

  const names = nodes.map(({ callFrame }) => callFrame.functionName);
  expect(names).toContain("during");
  expect(names).not.toContain("before");
});

test("profiler - counts array buffers until they are collected", async () => {
  const { profiler, call } = await startMeasured();
  const before = await heapBytes(profiler);
  expect(before).toBeGreaterThan(heldBytes);
  await call("release");
  await collectGarbage(profiler);
  expect(await heapBytes(profiler)).toBeLessThan(before - 0.9 * heldBytes);
});

test("profiler - does not keep the process alive, not even while a session is open", async () => {
  const { profiler, end } = await startMeasured();
  const stop = await startProfile(profiler);
  expect(await end()).toEqual({ code: 0, errors: "" });
  await expect(stop()).rejects.toThrow("ended before it answered Profiler.stop");
});

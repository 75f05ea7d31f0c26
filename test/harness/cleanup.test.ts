import { expect, test } from "vitest";
import { withCleanup } from "./cleanup.ts";

const never = new AbortController().signal;

test("cleanup - runs in reverse order, and after the result is known", async () => {
  const done: string[] = [];
  const result = await withCleanup(never, async (defer) => {
    defer(() => done.push("first"));
    defer(() => done.push("second"));
    done.push("run");
    return 7;
  });
  expect(result).toBe(7);
  expect(done).toEqual(["run", "second", "first"]);
});

test("cleanup - runs after an error, which wins over errors of the cleanup", async () => {
  const done: string[] = [];
  const run = withCleanup(never, async (defer) => {
    defer(() => done.push("first"));
    defer(() => Promise.reject(new Error("cleanup failed")));
    throw new Error("run failed");
  });
  await expect(run).rejects.toThrow("run failed");
  expect(done).toEqual(["first"]);
});

test("cleanup - throws an error of the cleanup after a successful run", async () => {
  const run = withCleanup(never, async (defer) => {
    defer(() => Promise.reject(new Error("cleanup failed")));
  });
  await expect(run).rejects.toThrow("cleanup failed");
});

test("cleanup - runs when the signal aborts, even if the run never ends", async () => {
  const stopping = new AbortController();
  const done: string[] = [];
  const run = withCleanup(stopping.signal, (defer) => {
    defer(() => done.push("cleanup"));
    return new Promise(() => undefined);
  });
  stopping.abort(new Error("stopped"));
  await expect(run).rejects.toThrow("stopped");
  expect(done).toEqual(["cleanup"]);
});

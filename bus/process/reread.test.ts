import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type RereadOptions, reread } from "./reread.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Rereads every second what the test sets. */
async function start(more: Partial<RereadOptions<string>> = {}) {
  const source: { next: string | Error; reads: number } = { next: "one", reads: 0 };
  const events: string[] = [];
  const value = await reread<string>({
    async read() {
      source.reads++;
      if (source.next instanceof Error) throw source.next;
      return source.next;
    },
    everyMillis: 1000,
    isSame: (a, b) => a === b,
    onChange: (changed) => void events.push(`changed to ${changed}`),
    onError: ({ message }) => void events.push(`failed: ${message}`),
    ...more,
  });
  const set = async (next: string | Error) => {
    source.next = next;
    await vi.advanceTimersByTimeAsync(1000);
  };
  return { value, source, events, set };
}

test("returns the latest value, and reports changes only", async () => {
  const { value, events, set } = await start();
  await set("one");
  expect([value.current(), events]).toEqual(["one", []]);
  await set("two");
  expect([value.current(), events]).toEqual(["two", ["changed to two"]]);
});

test("keeps the last value during errors, and reports each error once until a read succeeds", async () => {
  const { value, events, set } = await start();
  for (const message of ["a", "a", "b"]) await set(new Error(message));
  expect(value.current()).toBe("one");
  await set("one");
  await set(new Error("b"));
  expect(events).toEqual(["failed: a", "failed: b", "failed: b"]);
});

test("can replace the value after an error", async () => {
  const { value, events, set } = await start({
    afterError: ({ message }, last) => (message === "empty" ? "" : last),
  });
  await set(new Error("unreadable"));
  expect(value.current()).toBe("one");
  await set(new Error("empty"));
  expect(value.current()).toBe("");
  await set("one");
  expect([value.current(), events.at(-1)]).toEqual(["one", "changed to one"]);
});

test("throws if the first read fails", async () => {
  await expect(start({ read: () => Promise.reject(new Error("missing")) })).rejects.toThrow("missing");
});

test("does not start a read while another one is in progress", async () => {
  let release = () => {};
  let reads = 0;
  const { value } = await start({
    read: () =>
      ++reads === 2
        ? new Promise((resolve) => {
            release = () => resolve("slow");
          })
        : Promise.resolve("one"),
  });
  await vi.advanceTimersByTimeAsync(3000);
  expect(reads).toBe(2);
  release();
  await vi.advanceTimersByTimeAsync(0);
  expect(value.current()).toBe("slow");
  await vi.advanceTimersByTimeAsync(1000);
  expect(reads).toBe(3);
});

test("stops reading", async () => {
  const { value, source, set } = await start();
  value.stop();
  await set("two");
  expect([source.reads, value.current()]).toEqual([1, "one"]);
});

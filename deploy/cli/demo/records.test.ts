import { expect, test } from "vitest";
import { Records } from "./records.ts";

const record = (replica: string, msg: string): string => JSON.stringify({ level: "info", replica, msg });
const never = new AbortController().signal;

test("finds past and future records", async () => {
  const records = new Records();
  records.add(record("worker-1", "ready"));
  records.add(record("worker-2", "ready"));
  const ready = records.first(({ msg }) => msg === "ready", never);
  expect((await ready).replica).toBe("worker-1");
  const issued = records.first(({ msg }) => msg === "token issued", never);
  records.add(record("worker-1", "another"));
  records.add(record("worker-2", "token issued"));
  expect((await issued).replica).toBe("worker-2");
});

test("ignores lines that are not records of a replica", async () => {
  const records = new Records();
  const first = records.first(() => true, never);
  const others = ["", "Error: no such luck", "null", "1", '{"msg":"whose?"}', '{"replica":"worker-1"}'];
  for (const line of others) records.add(line);
  records.add(record("worker-1", "ready"));
  expect((await first).msg).toBe("ready");
});

test("rejects with the signal's reason", async () => {
  const records = new Records();
  const stop = new AbortController();
  const waiting = records.first(() => true, stop.signal);
  const reason = new Error("enough");
  stop.abort(reason);
  await expect(waiting).rejects.toBe(reason);
  await expect(records.first(() => true, stop.signal)).rejects.toBe(reason);
});

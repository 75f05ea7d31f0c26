import { expect, test } from "vitest";
import { createScreen, type LogRecord } from "./screen.ts";

/** The lines that records leave on the screen, without the time. */
function shown(...records: readonly LogRecord[]): string[] {
  const lines: string[] = [];
  const screen = createScreen({ write: (line) => lines.push(line), colors: "off", root: "/" });
  for (const record of records) screen.record(record);
  return lines.map((line) => line.slice("00:00:00 ".length));
}

const failing = (replica: string, msg: string, retryInMillis?: number): LogRecord => ({
  ...{ level: "error", replica, msg },
  ...(retryInMillis !== undefined && { retryInMillis }),
});

test("prints a failing retry once, and says that it is retried", () => {
  const refused = (pause: number) => failing("worker-1", "the bus is not reachable: refused.", pause);
  expect(shown(refused(200), refused(400), refused(800))).toEqual([
    "worker-1: the bus is not reachable: refused; retrying",
  ]);
});

test("prints each problem of each replica", () => {
  expect(
    shown(
      failing("worker-1", "a"),
      failing("worker-2", "a"),
      failing("worker-1", "b"),
      failing("worker-1", "a"),
    ),
  ).toEqual(["worker-1: a", "worker-2: a", "worker-1: b", "worker-1: a"]);
});

test("prints a function's error each time", () => {
  const record = { level: "error", replica: "worker-1", function: "hikawa", msg: "cannot say it" };
  expect(shown(record, record)).toHaveLength(2);
});

test("prints every webhook with its event, what is wrong with it, and the path of a request to another address", () => {
  const webhook = { level: "debug", replica: "gateway-1", msg: "webhook" };
  const push = { provider: "github", event: "push", delivery: "0c61f3a2-63a8" };
  expect(
    shown(
      { ...webhook, ...push, outcome: "stored", status: 202 },
      { ...webhook, ...push, outcome: "duplicate", status: 202 },
      ...["ref: expected string", "after: expected string"].map((detail) => ({
        ...{ ...webhook, ...push, level: "warn", msg: "webhook not accepted" },
        ...{ outcome: "malformed", status: 422, detail },
      })),
      { ...webhook, request: "POST /githubb/app", outcome: "not_found", status: 404 },
    ),
  ).toEqual([
    "gateway github push 0c61f3a2  stored, answered 202",
    "gateway github push 0c61f3a2  duplicate, answered 202",
    "gateway github push 0c61f3a2  malformed, answered 422: ref: expected string",
    "gateway github push 0c61f3a2  malformed, answered 422: after: expected string",
    "gateway POST /githubb/app  not_found, answered 404",
  ]);
});

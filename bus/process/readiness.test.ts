import type { Logger } from "pino";
import { expect, onTestFinished, test, vi } from "vitest";
import { Readiness } from "./readiness.ts";

test("a process is not ready while it starts, waits for a server, or has lost the bus", () => {
  const readiness = new Readiness();
  expect([readiness.isStarted, readiness.reason()]).toEqual([false, "starting"]);
  readiness.report("bus", "the bus is not reachable");
  readiness.report("cluster", "the API server is not reachable");
  expect(readiness.reason()).toBe("the bus is not reachable\nthe API server is not reachable");
  readiness.report("bus", undefined);
  readiness.report("cluster", undefined);
  let own: string | undefined = "no leader";
  readiness.started(() => own);
  expect([readiness.isStarted, readiness.reason()]).toEqual([true, "no leader"]);
  readiness.reportConnection("connection lost");
  expect(readiness.reason()).toBe("connection lost");
  readiness.reportConnection(undefined);
  own = undefined;
  expect(readiness.reason()).toBeUndefined();
});

test("logs each reason once, and the return to ready", () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const lines: string[] = [];
  const write = (line: string) => lines.push(line);
  const readiness = new Readiness();
  readiness.started(() => undefined);
  const unwatch = readiness.watch({ error: write, info: write } as unknown as Logger);
  for (const reason of [undefined, "lost", "lost", "still lost", undefined, undefined]) {
    readiness.reportConnection(reason);
    vi.advanceTimersByTime(1000);
  }
  unwatch();
  readiness.reportConnection("lost again");
  vi.advanceTimersByTime(5000);
  expect(lines).toEqual(["lost", "still lost", "ready again"]);
});

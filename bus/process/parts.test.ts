import { expect, test } from "vitest";
import type { Running, WaitFor } from "./frame.ts";
import { startParts } from "./parts.ts";

const once: WaitFor = (_problem, attempt) => attempt();

/** Parts that record what happens to them. The gateway's last answer is given when `answered` resolves. */
function recorded(answered: Promise<unknown> = Promise.resolve()) {
  const events: string[] = [];
  const reasons = new Map<string, string>();
  const part =
    (name: string, stopped: Promise<unknown> = Promise.resolve()) =>
    async (): Promise<Running> => {
      events.push(`${name} started`);
      return {
        notReady: () => reasons.get(name),
        async stop() {
          events.push(`${name} stopping`);
          await stopped;
          events.push(`${name} stopped`);
        },
      };
    };
  return {
    events,
    reasons,
    starts: { bridge: part("bridge"), workers: part("workers"), gateway: part("gateway", answered) },
  };
}

test("parts - start one after another, each with its own retries", async () => {
  const { events, starts } = recorded();
  const problems: string[] = [];
  await startParts(starts, async (problem, attempt) => {
    problems.push(problem);
    return attempt();
  });
  expect(events).toEqual(["bridge started", "workers started", "gateway started"]);
  expect(problems).toEqual(["bridge not started", "workers not started", "gateway not started"]);
});

test("parts - the gateway accepts no more first, and the bridge stops after the workers while answers are pending", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { events, starts } = recorded(promise);
  const running = await startParts(starts, once);
  events.length = 0;
  const stopped = running.stop();
  await expect.poll(() => events.at(-1)).toBe("bridge stopped");
  resolve();
  await stopped;
  expect(events).toEqual([
    ...["gateway stopping", "workers stopping", "workers stopped"],
    ...["bridge stopping", "bridge stopped", "gateway stopped"],
  ]);
});

test("parts - those that have started are stopped when one fails", async () => {
  const { events, starts } = recorded();
  const gateway = async () => {
    throw new Error("address in use");
  };
  await expect(startParts({ ...starts, gateway }, once)).rejects.toThrow("address in use");
  expect(events.slice(2)).toEqual([
    ...["workers stopping", "workers stopped", "bridge stopping", "bridge stopped"],
  ]);
});

test("parts - the reasons of all parts that are not ready are reported", async () => {
  const { reasons, starts } = recorded();
  const running = await startParts({ ...starts, gateway: undefined }, once);
  expect(running.notReady?.()).toBeUndefined();
  reasons.set("bridge", "cannot watch").set("workers", "not served");
  expect(running.notReady?.()).toBe("cannot watch\nnot served");
});

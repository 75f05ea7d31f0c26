import { expect, test } from "vitest";
import type { ReconcileEntry, WebhookEntry } from "../../../../api/bus.ts";
import type { CausalThread, QuietRuns, ReconcileRun } from "../../../../api/causality.ts";
import { beganAt, failuresIn, hasEntry, stepsIn, threadsOf } from "./steps.ts";

const object = { group: "g", kind: "App", namespace: "team", name: "web" };
const entryOf = (id: string, outcome: ReconcileEntry["outcome"], writes: number): ReconcileEntry => ({
  ...{ type: "reconcile", id, at: "2026-11-30T12:00:01Z", function: "apps", object, replica: "worker-1" },
  ...{ causes: [], moreCauses: 0, attempt: 0, waitedMillis: 250, tookMillis: 5, outcome },
  ...{ nextInMillis: null, error: null, moreWrites: 0 },
  writes: Array.from({ length: writes }, () => ({ verb: "apply", object, resourceVersion: "1" })),
});
const run = (
  id: string,
  outcome: ReconcileEntry["outcome"],
  threads: readonly CausalThread[] = [],
  writes = 1,
): ReconcileRun => ({ type: "reconcile", entry: entryOf(id, outcome, writes), threads });
const after = (write: number, ...runs: CausalThread["runs"]): CausalThread => ({
  link: { type: "write", write, resourceVersion: null },
  runs,
});
const quiet: QuietRuns = {
  ...{ type: "quiet", function: "apps", object, ids: ["q1", "q2"] },
  ...{ from: "2026-11-30T12:01:00Z", to: "2026-11-30T12:02:00Z" },
};

const inner = after(0, run("b", "retry"), run("c", "success"), quiet);
const root = run("a", "dead_lettered", [inner, after(7, run("d", "success"))]);
const threads: readonly CausalThread[] = [{ link: null, runs: [root] }];

test("counts steps and failures at all levels, and finds an entry in a group", () => {
  expect([stepsIn(threads), failuresIn(threads)]).toEqual([6, 2]);
  expect(["a", "d", "q2", "e"].map((id) => hasEntry(threads, id))).toEqual([true, true, true, false]);
});

test("places threads below their write, and below none if the write is not listed", () => {
  expect(threadsOf(root, 0)).toEqual([inner]);
  expect(threadsOf(root, undefined).map(({ link }) => link?.write)).toEqual([7]);
});

test("begins with the webhook, or with the request of the first reconcile", () => {
  const rest = { threads, before: null, omitted: 0, isOriginOpen: false, until: null };
  const webhook: WebhookEntry = {
    ...{ type: "webhook", id: "webhook-1", at: "2026-11-30T12:00:00Z", provider: "github", event: "push" },
    ...{ eventType: "com.github.push", delivery: "d", repository: "acme/web", subject: "" },
  };
  expect(beganAt({ ...rest, origin: webhook })).toBe(Date.UTC(2026, 10, 30, 12));
  expect(beganAt({ ...rest, origin: { type: "timer" } })).toBe(Date.UTC(2026, 10, 30, 12, 0, 0, 750));
  expect(beganAt({ ...rest, threads: [], origin: { type: "timer" } })).toBeUndefined();
});

import { expect, test } from "vitest";
import { z } from "zod";
import type { ConditionUpdate } from "../kube/conditions.ts";
import { conditions } from "../kube/fields.ts";
import { defineKind } from "../kube/kind.ts";
import type { Condition, Stored } from "../kube/object.ts";
import { defineFunction, type ReconcileFunction } from "./function.ts";
import { ReportedReady, settleConditions } from "./platformconditions.ts";
import { readyBeside } from "./stalledreport.ts";

const Thing = defineKind({
  group: "example.com",
  version: "v1",
  kind: "Thing",
  description: "A thing.",
  spec: z.object({}),
  status: z.object({ conditions: conditions("Ready: the thing exists.") }),
});
const fn = defineFunction({ name: "things", for: Thing, reconcile: async () => undefined });

const condition = (type: string, status: Condition["status"], reason: string): Condition => ({
  ...{ type, status, reason, message: `because of ${reason}` },
  lastTransitionTime: "2026-01-01T00:00:00Z",
});
const [trueReady, stalled] = [condition("Ready", "True", "Made"), condition("Stalled", "True", "Retrying")];
const texts = (of: readonly Pick<Condition, "type" | "status" | "reason">[] | undefined) =>
  of?.map(({ type, status, reason }) => `${type}=${status} ${reason}`);

/** The conditions that are written after a successful reconcile; undefined without a write. */
async function settled(
  before: readonly Condition[],
  reported: ReportedReady,
  by: ReconcileFunction = fn,
): Promise<string[] | undefined> {
  let written: readonly Condition[] | undefined;
  const object = { metadata: { generation: 1 }, status: { conditions: before } } as unknown as Stored;
  const ctx = {
    event: () => undefined,
    now: () => 0,
    status: async (_: unknown, __: unknown, status: { conditions: readonly Condition[] }) => {
      written = status.conditions;
      return object;
    },
  };
  await settleConditions(by, object, ctx as never, "whole", reported);
  return texts(written);
}

test.each([
  ["a True becomes Unknown", "stalled", [trueReady], ["Ready=Unknown Down"]],
  [
    "an earlier report is replaced",
    "stalled",
    [condition("Ready", "Unknown", "Retrying"), stalled],
    ["Ready=Unknown Down"],
  ],
  ["a False of the function stays", "stalled", [condition("Ready", "False", "Building")], []],
  ["a missing one stays missing", "stalled", [], []],
  ["without an intervention, it becomes False", "stalled-and-not-ready", [trueReady], ["Ready=False Down"]],
] as const)("Ready beside Stalled: %s", (_, severity, before, expected) => {
  expect(texts(readyBeside([...before], { reason: "Down", message: "it is down", severity }))).toEqual(
    expected,
  );
});

const report = (status: ConditionUpdate["status"]): ConditionUpdate => ({
  ...{ type: "Ready", status, reason: "Made", message: "made" },
});

test("a Ready of True waits for the success of a stalled object's reconcile, and is written with it", async () => {
  const before = [condition("Ready", "Unknown", "Retrying"), stalled];
  const reported = new ReportedReady();
  expect(reported.now(before, [report("True"), { ...report("True"), type: "Synced" }])).toMatchObject([
    { type: "Synced" },
  ]);
  expect(await settled(before, reported)).toEqual(["Ready=True Made"]);
});

test("a Ready of False is written at once, and replaces a waiting one", async () => {
  const before = [condition("Ready", "Unknown", "Retrying"), stalled];
  const reported = new ReportedReady();
  reported.now(before, [report("True")]);
  expect(reported.now(before, [report("False")])).toEqual([report("False")]);
  expect(await settled([condition("Ready", "False", "Made"), stalled], reported)).toEqual([
    "Ready=False Made",
  ]);
});

test("an object that is not stalled gets its Ready at once, and no further write", async () => {
  const reported = new ReportedReady();
  expect(reported.now([trueReady], [report("True")])).toEqual([report("True")]);
  expect(await settled([trueReady], reported)).toBeUndefined();
});

test("without a report of the function, the platform's Ready ends with Stalled", async () => {
  const after = (status: Condition["status"], reason: string) =>
    settled([condition("Ready", status, reason), stalled], new ReportedReady());
  expect(await after("Unknown", "Retrying")).toEqual(["Ready=True Reconciled"]);
  expect(await after("False", "Retrying")).toEqual([]);
  // The function's own.
  expect(await after("False", "Building")).toEqual(["Ready=False Building"]);
});

test("a secondary function changes no condition", async () => {
  const before = [condition("Ready", "Unknown", "Retrying"), stalled];
  expect(await settled(before, new ReportedReady(), { ...fn, secondary: true })).toBeUndefined();
});

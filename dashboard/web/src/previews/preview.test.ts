import type { Application, AppPipeline, Preview } from "@denrei/functions/paas/kinds";
import type { Stored } from "denrei/kinds";
import { expect, test } from "vitest";
import { openAddress, podsOf, previewRows, searchText, statusOf, toneOf } from "./preview.ts";

const preview = (number: number, more: Partial<Preview> = {}): Preview => ({
  number,
  headSHA: "a".repeat(40),
  since: "2026-01-01T00:00:00Z",
  phase: "Ready",
  ...more,
});
const rowsOf = (previews: readonly Preview[], ...applications: Stored<Application>[]) =>
  previewRows({ spec: {}, status: { previews } } as AppPipeline, applications, []);
const application = (replicas: number, readyReplicas?: number) =>
  ({ metadata: { name: "app" }, spec: { replicas }, status: { readyReplicas } }) as Stored<Application>;

test("lists the last changed pull request first, by its last commit if nothing else is known", () => {
  const previews = [
    preview(1, { updatedAt: "2026-01-02T00:00:00Z" }),
    preview(2, { since: "2026-01-03T00:00:00Z" }),
    preview(3, { updatedAt: "2026-01-04T00:00:00Z" }),
  ];
  expect(rowsOf(previews).map((row) => row.preview.number)).toEqual([3, 2, 1]);
});

test("finds a preview by what the row shows, and filters it by its status", () => {
  const [row] = rowsOf([
    preview(7, { title: "Fix login", author: "mona", headRef: "fix", phase: "NeedsApproval" }),
  ]);
  expect(row && searchText(row)).toBe(`#7 Fix login mona fix ${"a".repeat(40)} Needs approval`);
  expect(row && toneOf(row)).toBe("off");
});

test("shows a deletion before it is done, and a new creation before it has begun", () => {
  const stateOf = (phase: Preview["phase"], excluded?: readonly number[]) => {
    const pipeline = { spec: { filter: { excluded } }, status: { previews: [preview(7, { phase })] } };
    const [row] = previewRows(pipeline as AppPipeline, [], []);
    return row && statusOf(row);
  };
  expect(stateOf("Ready", [7])).toEqual(["busy", "Deleting"]);
  expect(stateOf("Excluded", [6, 7])).toEqual(["off", "Excluded"]);
  expect(stateOf("Excluded", [6])).toEqual(["busy", "Creating"]);
  expect(stateOf("Excluded")).toEqual(["busy", "Creating"]);
  expect(stateOf("Ready", [6])).toEqual(["good", "Ready"]);
});

test("counts the pods of the preview's Application, and opens an address only if it responds", () => {
  const url = "https://pr-1.preview.example.com";
  const found = (phase: Preview["phase"], ...applications: Stored<Application>[]) => {
    const [row] = rowsOf([preview(1, { application: "app", phase, url })], ...applications);
    return row && [podsOf(row), openAddress(row)];
  };
  expect(found("Ready", application(2, 1))).toEqual([[1, 2], url]);
  expect(found("Building", application(1, 1))).toEqual([[1, 1], url]);
  expect(found("Ready", application(0))).toEqual([[0, 0], undefined]);
  expect(found("Ready")).toEqual([undefined, url]);
  expect(found("Building")).toEqual([undefined, undefined]);
});

import type { Application, AppPipeline, Preview } from "@denrei/functions/paas/kinds";
import type { Stored } from "denrei/kinds";
import { expect, test } from "vitest";
import { openAddress, podsOf, previewRows, searchText, toneOf } from "./preview.ts";

const preview = (number: number, more: Partial<Preview> = {}): Preview => ({
  number,
  headSHA: "a".repeat(40),
  since: "2026-01-01T00:00:00Z",
  phase: "Ready",
  ...more,
});
const rowsOf = (previews: readonly Preview[], ...applications: Stored<Application>[]) =>
  previewRows({ status: { previews } } as AppPipeline, applications, []);
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

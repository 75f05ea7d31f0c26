import { expect, test } from "vitest";
import type { Preview } from "../kinds/apppipeline.ts";
import { previewEvents } from "./events.ts";

const preview = (number: number, more: Partial<Preview> = {}): Preview => ({
  number,
  headSHA: "a".repeat(40),
  since: "2026-01-01T00:00:00Z",
  phase: "Building",
  application: `app-${number}`,
  url: `https://${number}`,
  ...more,
});
const reasons = (before: Preview[], after: Preview[]) =>
  previewEvents(before, after).map(({ reason }) => reason);

test("records a created and a deleted preview", () => {
  expect(previewEvents([preview(1)], [preview(2)])).toEqual([
    { type: "Normal", reason: "PreviewMade", note: "created app-2 for #2" },
    { type: "Normal", reason: "PreviewRemoved", note: "deleted app-1 of #1" },
  ]);
  expect(reasons([preview(1)], [{ ...preview(1), application: undefined, phase: "Expired" }])).toEqual([
    "PreviewRemoved",
  ]);
});

test("records a ready preview once per commit", () => {
  const ready = preview(1, { phase: "Ready" });
  expect(previewEvents([preview(1)], [ready])).toEqual([
    { type: "Normal", reason: "PreviewReady", note: "#1 is ready with aaaaaaaaaaaa: https://1" },
  ]);
  expect(reasons([ready], [ready])).toEqual([]);
  expect(reasons([ready], [{ ...ready, headSHA: "b".repeat(40) }])).toEqual(["PreviewReady"]);
});

test("records a failed preview as a warning with its reason", () => {
  expect(previewEvents([preview(1)], [preview(1, { phase: "Failed", message: "no tests" })])).toEqual([
    { type: "Warning", reason: "PreviewFailed", note: "#1 has no preview of aaaaaaaaaaaa: no tests" },
  ]);
});

test("records a warning of a running preview once while it lasts", () => {
  const ready = preview(1, { phase: "Ready" });
  const warned = { ...ready, warning: "build 2 failed" };
  expect(previewEvents([ready], [warned])).toEqual([
    { type: "Warning", reason: "PreviewWarning", note: "#1 keeps running aaaaaaaaaaaa: build 2 failed" },
  ]);
  expect(reasons([warned], [{ ...warned, warning: "build 3 failed" }])).toEqual([]);
  expect(reasons([warned], [ready])).toEqual([]);
});

test("records nothing for a waiting preview", () => {
  const waiting: Preview = { ...preview(1), application: undefined, phase: "Waiting" };
  expect(reasons([], [waiting])).toEqual([]);
  expect(reasons([waiting], [preview(1)])).toEqual(["PreviewMade"]);
});

import { expect, test } from "vitest";
import { type LeadSource, openProgress } from "./progress.ts";

const secondsAgo = (seconds: number): number => performance.now() - seconds * 1000;
const idle: LeadSource = { waitingSince: undefined, count: 3 };

test("progress - reports a kind while the bridge is a candidate to lead it", () => {
  const progress = openProgress();
  const leave = progress.enter("Note");
  expect([...progress.kinds()]).toEqual([["Note", { leading: 0, behindSeconds: 0, objects: 0 }]]);
  leave();
  expect(progress.kinds().size).toBe(0);
});

test("progress - a leader is behind until it has caught up, and while a change waits to be stored", () => {
  const progress = openProgress();
  progress.enter("Note");
  const ended = new AbortController();
  const source = { ...idle, waitingSince: undefined as number | undefined };
  const lead = progress.lead("Note", source, ended.signal);
  const behind = () => progress.kinds().get("Note")?.behindSeconds ?? Number.NaN;
  expect(behind()).toBeGreaterThan(0);
  lead.catchesUp();
  expect(progress.kinds().get("Note")).toEqual({ leading: 1, behindSeconds: 0, objects: 3 });
  source.waitingSince = secondsAgo(20);
  expect(behind()).toBeGreaterThanOrEqual(20);
  source.waitingSince = undefined;
  lead.fallsBehind();
  expect(behind()).toBeGreaterThan(0);
  ended.abort();
  expect(progress.kinds().get("Note")).toEqual({ leading: 0, behindSeconds: 0, objects: 0 });
});

test("progress - adds up namespaces, and reports the one that is furthest behind", () => {
  const progress = openProgress();
  const { signal } = new AbortController();
  for (const seconds of [5, 50, 10]) {
    progress.enter("Secret");
    progress.lead("Secret", { waitingSince: secondsAgo(seconds), count: 2 }, signal).catchesUp();
  }
  const { leading, objects, behindSeconds = 0 } = progress.kinds().get("Secret") ?? {};
  expect({ leading, objects, all: progress.objects() }).toEqual({ leading: 3, objects: 6, all: 6 });
  expect(behindSeconds).toBeGreaterThanOrEqual(50);
});

import { expect, test } from "vitest";
import { type Cause, followUp, mergeRequests, newRequest, parseRequest } from "./request.ts";

const text = (more: object) => JSON.stringify({ ...newRequest({ type: "timer" }), ...more });

test("keeps unknown fields when the request is written again", () => {
  const request = parseRequest(text({ priority: "high", attempt: 2 }));
  expect(JSON.parse(JSON.stringify({ ...request, attempt: 3 }))).toMatchObject({
    priority: "high",
    attempt: 3,
    cause: { type: "timer" },
  });
});

test.each([
  ["alone", { cause: { type: "cluster", name: "x" } }],
  ["next to a known one", { also: [{ type: "cluster" }] }],
])("reads an unknown cause, %s, as a replay", (_where, more) => {
  const { cause, also = [] } = parseRequest(text(more));
  expect([cause, ...also]).toContainEqual({ type: "replay" });
});

test.each([
  ["no JSON", "x"],
  ["no cause", text({ cause: undefined })],
  ["a cause without a type", text({ cause: {} })],
  ["an incomplete cause", text({ cause: { type: "object" } })],
  ["a malformed time", text({ since: "today" })],
])("rejects a body with %s", (_what, body) => {
  expect(() => parseRequest(body)).toThrow();
});

const trace = (at: number, flags = "01") =>
  `00-${"a".repeat(31)}${at.toString(16).slice(-1)}-${"b".repeat(16)}-${flags}`;
const webhook = (delivery: string): Cause => ({
  type: "webhook",
  provider: "github",
  event: "push",
  delivery,
});

test("a webhook that an earlier version stored is of GitHub", () => {
  const cause = { type: "webhook", event: "push", delivery: "1" };
  expect(parseRequest(text({ cause })).cause).toEqual(webhook("1"));
});

test("a merged request has all causes, and the traces of those that were sampled", () => {
  const first = newRequest(webhook("1"), trace(1));
  const one = mergeRequests(first, [
    newRequest(webhook("2"), trace(2)),
    newRequest(webhook("3"), trace(3, "00")),
    newRequest(webhook("4")),
  ]);
  expect(one).toEqual({ ...first, also: ["2", "3", "4"].map(webhook), links: [trace(2)] });
  expect(parseRequest(JSON.stringify(one))).toEqual(one);
});

test("a merged request keeps 16 traces at most", () => {
  const rest = Array.from({ length: 100 }, (_, at) => newRequest(webhook(String(at)), trace(at)));
  const one = mergeRequests(newRequest(webhook("first")), rest);
  expect(one.also).toHaveLength(100);
  expect(one.links).toHaveLength(16);
});

test("a follow-up request starts a new trace and links to the old one", () => {
  const request = { ...newRequest(webhook("1"), trace(1)), links: [trace(2)], attempt: 3 };
  const { traceparent: _, links: _links, ...same } = request;
  expect(followUp(request, trace(4))).toEqual({ ...same, follows: trace(4) });
});

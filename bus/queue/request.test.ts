import { expect, test } from "vitest";
import { newRequest, parseRequest } from "./request.ts";

const text = (more: object) => JSON.stringify({ ...newRequest({ type: "timer" }), ...more });

test("fields that this version does not know are kept when the request is written anew", () => {
  const request = parseRequest(text({ priority: "high", attempt: 2 }));
  expect(JSON.parse(JSON.stringify({ ...request, attempt: 3 }))).toMatchObject({
    priority: "high",
    attempt: 3,
    cause: { type: "timer" },
  });
});

test.each([
  ["of its own", { cause: { type: "cluster", name: "x" } }],
  ["beside another", { also: [{ type: "cluster" }] }],
])("a cause that this version does not know, %s, is a reason to read everything anew", (_where, more) => {
  const { cause, also = [] } = parseRequest(text(more));
  expect([cause, ...also]).toContainEqual({ type: "replay" });
});

test.each([
  ["no JSON", "x"],
  ["no cause", text({ cause: undefined })],
  ["a cause without a type", text({ cause: {} })],
  ["a cause that is known otherwise", text({ cause: { type: "object" } })],
  ["no time", text({ since: "today" })],
])("%s is no request", (_what, body) => {
  expect(() => parseRequest(body)).toThrow();
});

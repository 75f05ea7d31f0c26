import { expect, test } from "vitest";
import { byUrgency, type ListedRequest } from "./requests.ts";

const request = (name: string, storedAt: number, dueAt?: number): ListedRequest => ({
  key: { namespace: "default", name },
  ...{ storedAt, dueAt, attempt: 0, reason: undefined, cause: { type: "timer" } },
  state: dueAt === undefined ? "pending" : "delayed",
});

test("lists the requests of several functions by urgency: due requests by age, then delayed ones by due time", () => {
  const first = [request("due 2", 2), request("later", 1, 90)];
  const second = [request("due 1", 1), request("soon", 5, 50)];
  expect([...first, ...second].sort(byUrgency).map(({ key }) => key.name)).toEqual([
    ...["due 1", "due 2", "soon", "later"],
  ]);
});

import { Code, ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import type { Condition, Stored } from "../../../bus/kube/object.ts";
import type { Context } from "../../../bus/worker/function.ts";
import { PipecdError } from "../api/errors.ts";
import { Piped } from "../kinds.ts";
import { callerFor, retireAll, writeRetired } from "./replacedregistrations.ts";

const refused = new PipecdError("GetApplication", new ConnectError("no project", Code.PermissionDenied));

test("ends each registration, and returns the refused ones with the first error", async () => {
  const ended: string[] = [];
  const result = await retireAll(["gone", "a", "gone too", "b"], async (one) => {
    if (one.startsWith("gone")) throw refused;
    ended.push(one);
  });
  expect(ended).toEqual(["a", "b"]);
  expect(result).toEqual({ left: ["gone", "gone too"], error: refused });
});

test("rethrows errors that are not from PipeCD", async () => {
  const lost = new Error("ownership lost");
  await expect(retireAll(["a"], () => Promise.reject(lost))).rejects.toBe(lost);
});

test("uses the API key of an object only for the object's project", () => {
  const spec = { projectID: "q", insecure: true, apiKeySecretRef: { name: "key" } };
  expect(callerFor(spec, "q")).toEqual(spec);
  expect(callerFor(spec, "former")).toEqual({ projectID: "former", insecure: true });
});

const condition = (type: string): Condition => ({
  ...{ type, status: "False", reason: "R", message: "m" },
  lastTransitionTime: "2026-01-01T00:00:00Z",
});
const former = [{ pipedID: "1", projectID: "gone" }];
const piped = (status: Piped["status"]): Stored<Piped> =>
  ({ kind: "Piped", metadata: { name: "p", uid: "p", resourceVersion: "1" }, status }) as Stored<Piped>;
const written: unknown[] = [];
const ctx = {
  now: () => Date.parse("2026-01-01T00:00:05Z"),
  status: async (_kind: unknown, object: unknown, ...change: unknown[]) => {
    written.push(change);
    return object;
  },
} as unknown as Context;

test("reports registrations that PipeCD refuses to end, and backs off", async () => {
  const object = piped({ former, conditions: [condition("Retired")] });
  written.length = 0;
  expect(await writeRetired(Piped, object, former, refused, ctx)).toEqual({ object, requeueAfter: 5_000 });
  const message = expect.stringContaining("PipeCD: GetApplication: PermissionDenied: no project");
  expect(written).toEqual([
    [{ former }, [{ type: "Retired", status: "False", reason: "PermissionDenied", message }]],
  ]);
});

test("removes the condition with the last registration", async () => {
  const ready = condition("Ready");
  written.length = 0;
  await writeRetired(Piped, piped({ former, conditions: [condition("Retired"), ready] }), [], undefined, ctx);
  expect(written).toEqual([[{ former: null, conditions: [ready] }]]);
});

test("writes nothing if nothing was replaced", async () => {
  written.length = 0;
  await writeRetired(Piped, piped({ conditions: [condition("Ready")] }), [], undefined, ctx);
  expect(written).toEqual([]);
});

import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import type { Condition, Stored } from "../../../bus/kube/object.ts";
import type { Context } from "../../../bus/worker/function.ts";
import { PipecdError } from "../api/errors.ts";
import type { ControlPlane } from "../kinds.ts";
import { Environment } from "../kinds.ts";
import {
  assertReady,
  type DependentStatus,
  isSyncDue,
  orWait,
  pacedWait,
  syncedNow,
  untilSync,
  WaitingError,
} from "./dependent.ts";

const readySince = "2026-01-01T00:00:00Z";
const asked = Date.parse("2026-01-01T01:00:00Z");
const minute = 60_000;

const condition = (status: Condition["status"], lastTransitionTime: string, type = "Ready"): Condition => ({
  type,
  status,
  reason: "R",
  message: "the server is away",
  lastTransitionTime,
});
const plane = ({
  uid = "u",
  conditions = [condition("True", readySince)],
  deleted = false,
}: {
  uid?: string;
  conditions?: Condition[];
  deleted?: boolean;
} = {}): Stored<ControlPlane> => ({
  apiVersion: "pipecd.kanatakita.com/v1alpha1",
  kind: "ControlPlane",
  metadata: { name: "cp", uid, resourceVersion: "1", ...(deleted && { deletionTimestamp: readySince }) },
  spec: { version: "v0.57.0", config: { datastore: {}, filestore: {} } },
  status: { conditions },
});

describe("PipeCD is asked", () => {
  const synced = syncedNow(plane(), asked);
  test.each<readonly [string, boolean, DependentStatus, Stored<ControlPlane>, number]>([
    ["when it never was", true, {}, plane(), asked],
    ["not when it just was", false, synced, plane(), asked],
    ["not within 8 minutes", false, synced, plane(), asked + 8 * minute - 1],
    ["after 8 minutes", true, synced, plane(), asked + 8 * minute],
    [
      "when the control plane was away meanwhile",
      true,
      synced,
      plane({ conditions: [condition("True", "2026-01-01T01:00:01Z")] }),
      asked + minute,
    ],
    ["when it is another control plane, of the same name", true, synced, plane({ uid: "v" }), asked + minute],
    [
      "not while the control plane is away: it could not answer",
      false,
      synced,
      plane({ conditions: [condition("False", "2026-01-01T01:00:01Z")] }),
      asked + minute,
    ],
    [
      "not because another condition has changed",
      false,
      synced,
      plane({
        conditions: [
          condition("True", readySince),
          condition("True", "2026-01-01T01:00:01Z", "APIKeysReady"),
        ],
      }),
      asked + minute,
    ],
    ["when nobody knows of whom it was asked", true, { lastSyncTime: readySince }, plane(), asked],
  ])("%s", (_, due, status, of, now) => {
    expect(isSyncDue(status, of, now)).toBe(due);
  });

  test("as often as the object wants", () => {
    expect(isSyncDue(synced, plane(), asked + minute, minute)).toBe(true);
    expect(isSyncDue(synced, plane(), asked + minute - 1, minute)).toBe(false);
  });

  test("at a time that the object keeps as others read it", () => {
    expect(syncedNow(plane(), asked + 999).lastSyncTime).toBe("2026-01-01T01:00:00Z");
  });

  test("again when the time is up, never at once", () => {
    expect(untilSync(synced, asked)).toBe(8 * minute);
    expect(untilSync(synced, asked + minute)).toBe(7 * minute);
    expect(untilSync(synced, asked, minute)).toBe(minute);
    expect(untilSync(synced, asked + 60 * minute)).toBe(1_000);
    expect(untilSync({}, asked)).toBe(1_000);
  });
});

describe("a control plane", () => {
  test("that is ready may be asked", () => {
    expect(() => assertReady(plane())).not.toThrow();
  });
  test.each([
    ["is not ready", plane({ conditions: [condition("False", readySince)] }), "the server is away"],
    ["is new", plane({ conditions: [] }), "it is new"],
    ["is being deleted", plane({ deleted: true }), "it is being deleted"],
  ])("that %s is waited for", (_, object, why) => {
    expect(() => assertReady(object)).toThrow(
      new WaitingError("ControlPlaneNotReady", `the ControlPlane cp is not ready: ${why}`),
    );
  });
});

test.each([
  ["no time yet", undefined, 1_000],
  ["5 seconds", 5_000, 5_000],
  ["an hour", 60 * minute, minute],
])("what has been waited for %s is looked at again as much later", (_, lasted, expected) => {
  const began = lasted === undefined ? [] : [condition("False", new Date(asked - lasted).toISOString())];
  expect(pacedWait({ conditions: began }, asked)).toBe(expected);
});

describe("work that", () => {
  const environment: Stored<Environment> = {
    apiVersion: "pipecd.kanatakita.com/v1alpha1",
    kind: "Environment",
    metadata: { name: "e", uid: "e", resourceVersion: "1" },
    spec: { name: "e", description: "", projectID: "q" },
  };
  const run = async (work: () => Promise<undefined>) => {
    const told: unknown[] = [];
    const ctx = {
      key: { namespace: "ns", name: "e" },
      now: () => asked,
      read: { get: async () => undefined },
      status: async (...[, , , conditions]: unknown[]) => told.push(conditions),
    } as unknown as Context;
    const result = await orWait(Environment, environment, ctx, work);
    return { result, told };
  };

  test("is done says nothing", async () => {
    expect(await run(async () => undefined)).toEqual({ result: undefined, told: [] });
  });

  test.each([
    [undefined, undefined],
    [5_000, { requeueAfter: 5_000 }],
  ])("waits says for what, and looks again after %s", async (againMillis, result) => {
    const waiting = new WaitingError("PipedNotFound", "expected the Piped p", againMillis);
    const told = [[{ type: "Ready", status: "False", reason: "PipedNotFound", message: waiting.message }]];
    expect(await run(() => Promise.reject(waiting))).toEqual({ result, told });
  });

  test("PipeCD refuses is tried again, and any other error is passed on", async () => {
    const refused = new PipecdError("AddEnvironment", new ConnectError("no", Code.InvalidArgument));
    await expect(run(() => Promise.reject(refused))).rejects.toMatchObject({
      name: "BlockedError",
      reason: "InvalidArgument",
    });
    const broken = new Error("broken");
    await expect(run(() => Promise.reject(broken))).rejects.toBe(broken);
  });
});

test("what is waited for anew is looked at soon again, however long something else was waited for before", () => {
  const conditions = [condition("False", new Date(asked - 60 * minute).toISOString())];
  expect(pacedWait({ conditions }, asked, { after: asked - 2_000 })).toBe(2_000);
  expect(pacedWait({ conditions }, asked, { after: asked })).toBe(1_000);
});

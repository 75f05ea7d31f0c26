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
  reconcileOrWait,
  syncedStatus,
  untilSync,
  WaitingError,
  waitPollMillis,
} from "./dependent.ts";

const readySince = "2026-01-01T00:00:00Z";
const asked = Date.parse("2026-01-01T01:00:00Z");
const minute = 60_000;

const condition = (status: Condition["status"], lastTransitionTime: string, type = "Ready"): Condition => ({
  type,
  status,
  reason: "R",
  message: "the server is unavailable",
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

describe("a sync with PipeCD is due", () => {
  const synced = syncedStatus(plane(), asked);
  test.each<readonly [string, boolean, DependentStatus, Stored<ControlPlane>, number]>([
    ["before the first one", true, {}, plane(), asked],
    ["not right after the last one", false, synced, plane(), asked],
    ["not within 8 minutes", false, synced, plane(), asked + 8 * minute - 1],
    ["after 8 minutes", true, synced, plane(), asked + 8 * minute],
    [
      "when the control plane was unavailable since the last one",
      true,
      synced,
      plane({ conditions: [condition("True", "2026-01-01T01:00:01Z")] }),
      asked + minute,
    ],
    ["when another control plane has the same name", true, synced, plane({ uid: "v" }), asked + minute],
    [
      "not while the control plane is unavailable",
      false,
      synced,
      plane({ conditions: [condition("False", "2026-01-01T01:00:01Z")] }),
      asked + minute,
    ],
    [
      "not because another condition changed",
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
    ["when the last control plane is unknown", true, { lastSyncTime: readySince }, plane(), asked],
  ])("%s", (_, due, status, of, now) => {
    expect(isSyncDue(status, of, now)).toBe(due);
  });

  test("after the interval of the object", () => {
    expect(isSyncDue(synced, plane(), asked + minute, minute)).toBe(true);
    expect(isSyncDue(synced, plane(), asked + minute - 1, minute)).toBe(false);
  });

  test("and its time has no milliseconds", () => {
    expect(syncedStatus(plane(), asked + 999).lastSyncTime).toBe("2026-01-01T01:00:00Z");
  });

  test("again after the rest of the interval, and after 1 s at the earliest", () => {
    expect(untilSync(synced, asked)).toBe(8 * minute);
    expect(untilSync(synced, asked + minute)).toBe(7 * minute);
    expect(untilSync(synced, asked, minute)).toBe(minute);
    expect(untilSync(synced, asked + 60 * minute)).toBe(1_000);
    expect(untilSync({}, asked)).toBe(1_000);
  });
});

describe("a control plane", () => {
  test("that is ready passes", () => {
    expect(() => assertReady(plane())).not.toThrow();
  });
  test.each([
    ["is not ready", plane({ conditions: [condition("False", readySince)] }), "the server is unavailable"],
    ["is new", plane({ conditions: [] }), "it is new"],
    ["is being deleted", plane({ deleted: true }), "it is being deleted"],
  ])("that %s throws a WaitingError", (_, object, why) => {
    expect(() => assertReady(object)).toThrow(
      new WaitingError("ControlPlaneNotReady", `the ControlPlane cp is not ready: ${why}`),
    );
  });
});

test.each([
  ["no time yet", undefined, 1_000],
  ["5 seconds", 5_000, 5_000],
  ["an hour", 60 * minute, minute],
])("after %s of waiting, polls again after the same time within limits", (_, lasted, expected) => {
  const began = lasted === undefined ? [] : [condition("False", new Date(asked - lasted).toISOString())];
  expect(waitPollMillis({ conditions: began }, asked)).toBe(expected);
});

describe("a reconcile", () => {
  const environment: Stored<Environment> = {
    apiVersion: "pipecd.kanatakita.com/v1alpha1",
    kind: "Environment",
    metadata: { name: "e", uid: "e", resourceVersion: "1" },
    spec: { name: "e", description: "", projectID: "q" },
  };
  const run = async (work: () => Promise<undefined>) => {
    const written: unknown[] = [];
    const ctx = {
      key: { namespace: "ns", name: "e" },
      now: () => asked,
      read: { get: async () => undefined },
      status: async (...[, , , conditions]: unknown[]) => written.push(conditions),
    } as unknown as Context;
    const result = await reconcileOrWait(Environment, environment, ctx, work);
    return { result, written };
  };

  test("that succeeds writes no condition", async () => {
    expect(await run(async () => undefined)).toEqual({ result: undefined, written: [] });
  });

  test.each([
    [undefined, undefined],
    [5_000, { requeueAfter: 5_000 }],
  ])("that waits writes the reason, and retries after %s", async (pollMillis, result) => {
    const waiting = new WaitingError("PipedNotFound", "expected the Piped p", pollMillis);
    const written = [[{ type: "Ready", status: "False", reason: "PipedNotFound", message: waiting.message }]];
    expect(await run(() => Promise.reject(waiting))).toEqual({ result, written });
  });

  test("that PipeCD refuses is retried, and other errors are rethrown", async () => {
    const refused = new PipecdError("AddEnvironment", new ConnectError("no", Code.InvalidArgument));
    await expect(run(() => Promise.reject(refused))).rejects.toMatchObject({
      name: "BlockedError",
      reason: "InvalidArgument",
    });
    const broken = new Error("broken");
    await expect(run(() => Promise.reject(broken))).rejects.toBe(broken);
  });
});

test("a new wait starts with a short interval, even right after a long wait", () => {
  const conditions = [condition("False", new Date(asked - 60 * minute).toISOString())];
  expect(waitPollMillis({ conditions }, asked, { after: asked - 2_000 })).toBe(2_000);
  expect(waitPollMillis({ conditions }, asked, { after: asked })).toBe(1_000);
});

import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { BlockedError } from "../../../bus/worker/errors.ts";
import { blockedBy, PipecdError, since, unlessNotFound } from "./errors.ts";
import { wrapCall } from "./wrapcall.ts";

const now = Date.parse("2026-01-01T00:00:00Z");
const errorOf = (code: Code, cause?: unknown): PipecdError =>
  new PipecdError("GetPiped", new ConnectError("no", code, undefined, undefined, cause));

const soon = [2_000, 60_000] as const;
const late = [60_000, 600_000] as const;

describe.each<readonly [number, string, string, readonly [number, number]]>([
  // The server also returns these two while its stores are unavailable. https://grpc.io/docs/guides/status-codes/
  [16, "Unauthenticated", "Unauthenticated", soon],
  [7, "PermissionDenied", "PermissionDenied", soon],
  [14, "Unavailable", "ServerUnavailable", soon],
  [4, "DeadlineExceeded", "ServerUnavailable", soon],
  [13, "Internal", "ServerError", soon],
  [2, "Unknown", "ServerError", soon],
  [3, "InvalidArgument", "InvalidArgument", late],
  [5, "NotFound", "NotFound", late],
  [9, "FailedPrecondition", "FailedPrecondition", late],
  [12, "Unimplemented", "Unimplemented", late],
])("the status code %i %s", (code, name, reason, [least, most]) => {
  const error = errorOf(code);

  test("becomes a BlockedError with a reason and the method", () => {
    const blocked = blockedBy(error, undefined, now);
    expect(blocked).toBeInstanceOf(BlockedError);
    const hint = ["Unauthenticated", "PermissionDenied"].includes(name)
      ? ". The project must be in the configuration of the ControlPlane. An API key must be enabled, READ_WRITE, and of this project."
      : "";
    expect(blocked).toMatchObject({ reason, cause: error, message: `PipeCD: GetPiped: ${name}: no${hint}` });
  });

  test("is retried with a doubling interval within bounds", () => {
    const waits: number[] = [];
    let lasted = 0;
    while (waits.at(-1) !== most) {
      waits.push(blockedBy(error, now, now + lasted).retryAfterMillis);
      lasted += waits.at(-1) ?? 0;
    }
    expect(blockedBy(error, undefined, now).retryAfterMillis).toBe(least);
    const [first, second, third = most] = waits;
    expect([first, second, third]).toEqual([least, least, Math.min(most, 2 * least)]);
    for (const [index, wait] of waits.slice(2).entries())
      expect(wait).toBe(Math.min(most, 2 * (waits[index + 1] ?? 0)));
    expect(blockedBy(error, 0, now).retryAfterMillis).toBe(most);
    // The clock may have been set back.
    expect(blockedBy(error, now + 60_000, now).retryAfterMillis).toBe(least);
  });
});

test("an unknown code becomes a ServerError", () => {
  expect(blockedBy(errorOf(99 as Code), undefined, now)).toMatchObject({
    reason: "ServerError",
    message: "PipeCD: GetPiped: code 99: no",
    retryAfterMillis: 2_000,
  });
});

test("an untrusted certificate at any depth of causes is reported with a hint", () => {
  const refused = Object.assign(new Error("self-signed"), { code: "DEPTH_ZERO_SELF_SIGNED_CERT" });
  for (const cause of [refused, new Error("session closed", { cause: refused })]) {
    const blocked = blockedBy(errorOf(Code.Unavailable, cause), undefined, now);
    expect(blocked).toMatchObject({ reason: "ServerNotTrusted", retryAfterMillis: 2_000 });
    expect(blocked.message).toContain("ca.crt");
  }
  const away = Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
  const blocked = blockedBy(errorOf(Code.Unavailable, away), undefined, now);
  expect(blocked.reason).toBe("ServerUnavailable");
  expect(blocked.message).not.toContain("ca.crt");
});

test("wraps any error of a call with the name of the method", async () => {
  await expect(wrapCall("ListPipeds", Promise.resolve(1))).resolves.toBe(1);
  await expect(
    wrapCall("ListPipeds", Promise.reject(new ConnectError("away", Code.Unavailable))),
  ).rejects.toMatchObject({
    name: "PipecdError",
    code: Code.Unavailable,
    method: "ListPipeds",
    message: "ListPipeds: Unavailable: away",
  });
  await expect(wrapCall("ListPipeds", Promise.reject(new Error("broken")))).rejects.toMatchObject({
    name: "PipecdError",
    code: Code.Unknown,
  });
});

test("returns undefined for NotFound only", async () => {
  await expect(unlessNotFound(Promise.resolve("it"))).resolves.toBe("it");
  await expect(unlessNotFound(Promise.reject(errorOf(Code.NotFound)))).resolves.toBeUndefined();
  for (const error of [errorOf(Code.PermissionDenied), errorOf(Code.Internal), new Error("not found")])
    await expect(unlessNotFound(Promise.reject(error))).rejects.toBe(error);
});

test("returns the time since when a condition has its status", () => {
  const conditions = [
    {
      type: "Stalled",
      status: "True" as const,
      reason: "R",
      message: "",
      lastTransitionTime: "2026-01-01T00:00:00Z",
    },
  ];
  expect(since(conditions, "Stalled", "True")).toBe(now);
  expect(since(conditions, "Stalled", "False")).toBeUndefined();
  expect(since(conditions, "Ready", "True")).toBeUndefined();
  expect(since(undefined, "Stalled", "True")).toBeUndefined();
});

test("a server without TLS is reported with the same message each time", () => {
  const errors = ["40C7E1B2A37F0000", "80AAE1B2A37F0000"].map((thread) => {
    const text = `${thread}:error:0A00010B:SSL routines:ssl3_get_record:wrong version number`;
    const cause = Object.assign(new Error(text), { code: "ERR_SSL_WRONG_VERSION_NUMBER" });
    const error = new PipecdError("ListPipeds", ConnectError.from(cause, Code.Internal));
    return blockedBy(error, undefined, 0);
  });
  expect(errors.map(({ reason }) => reason)).toEqual(["TLSMismatch", "TLSMismatch"]);
  expect(errors[0]?.message).toBe(errors[1]?.message);
  expect(errors[0]?.message).toContain("insecure: true");
});

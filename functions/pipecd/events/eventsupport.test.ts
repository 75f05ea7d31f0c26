import { expect, test } from "vitest";
import type { ControlPlane, EventRegistration } from "../kinds.ts";
import { checkVersion } from "./eventsupport.ts";

const check = (version: string, contexts?: Record<string, string>) => () =>
  checkVersion(
    { spec: { ...(contexts && { contexts }) } as EventRegistration["spec"] },
    {
      metadata: { name: "cp", uid: "u", resourceVersion: "1" },
      spec: { version } as ControlPlane["spec"],
    },
  );

test.each(["v0.9.0", "v0.37.1", "v0.43.1"])("%s does not support events", (version) => {
  expect(check(version)).toThrow(expect.objectContaining({ reason: "VersionNotSupported" }));
});

test("events need v0.44.0, and contexts v0.49.3", () => {
  expect(check("v0.44.0")).not.toThrow();
  expect(check("v0.49.2", { a: "b" })).toThrow(expect.objectContaining({ reason: "ConfigInvalid" }));
  expect(check("v0.49.3", { a: "b" })).not.toThrow();
});

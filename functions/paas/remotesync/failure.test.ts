import fc from "fast-check";
import { expect, test } from "vitest";
import { publishable } from "../../../bus/events/kubernetes.ts";
import type { Stored } from "../../../bus/kube/object.ts";
import type { Context } from "../../../bus/worker/function.ts";
import { type Build, Build as BuildKind } from "../kinds/kpack.ts";
import type { RemoteSync } from "../kinds/remotesync.ts";
import { noteFailure, pauseMillis } from "./failure.ts";
import { newProgress } from "./status.ts";

const made = Date.parse("2026-01-01T00:00:00Z");

test("retries no Build within two seconds, so that creation times differ", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 999 }), fc.integer({ min: 0, max: 2000 }), (within, since) => {
      expect(pauseMillis(0, made, made + within + since)).toBeGreaterThan(0);
    }),
  );
});

test("doubles the pauses up to ten minutes", () => {
  const pauses = [0, 1, 2, 3, 10, 100].map((retries) => pauseMillis(retries, made, made));
  expect(pauses).toEqual([2000, 10_000, 20_000, 40_000, 600_000, 600_000]);
});

test("retries after the pause, even if a clock is behind", () => {
  expect(pauseMillis(1, made, made + 12_000)).toBe(0);
  expect(pauseMillis(1, made, made + 11_000)).toBe(1000);
  expect(pauseMillis(1, made, made - 86_400_000)).toBe(10_000);
});

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const secrets: Readonly<Record<string, Record<string, string>>> = {
  git: { username: "x-access-token", password: "a token of another form" },
  registry: {
    ".dockerconfigjson": JSON.stringify({
      auths: { "registry.example.com": { auth: base64("robot:hunter-2") } },
    }),
  },
};

test("redacts the credentials of a build in its output", async () => {
  const printed = [
    "Container build terminated with error",
    "token: a token of another form",
    `auth: ${base64("robot:hunter-2")}, password: hunter-2`,
    "deploy key: dk-123456, level: verbose",
    "old token: ghs_expired",
    `url: https://x:${encodeURIComponent("a token of another form")}@github.com`,
  ].join("\n");
  const sync = {
    spec: {
      base: { github: { secretName: "git" } },
      image: { secretName: "registry" },
      build: {
        env: [
          { name: "DEPLOY_KEY", value: "dk-123456" },
          { name: "LOG_LEVEL", value: "verbose" },
        ],
      },
    },
  } as Stored<RemoteSync>;
  const build = {
    metadata: { name: "web-build-1", uid: "u", resourceVersion: "1" },
    spec: {},
    status: { podName: "pod", conditions: [{ type: "Succeeded", status: "False", message: printed }] },
  } as unknown as Stored<Build>;
  const events: string[] = [];
  const ctx = {
    live: {
      async get({ kind }: { kind: string }, name: string) {
        if (kind === "Build") return build;
        const data = Object.entries(secrets[name] ?? {}).map(([key, value]) => [key, base64(value)]);
        return { metadata: { name }, data: Object.fromEntries(data) };
      },
      podLog: async () => printed,
    },
    event: (_: string, __: string, note: string) => events.push(note),
    now: () => made,
  } as unknown as Context;
  const reported = newProgress();
  const { message, step } = await noteFailure(
    sync,
    publishable(BuildKind, build) as typeof build,
    "BuildFailed",
    ctx,
    reported,
  );
  const expected = [
    "Container build terminated with error",
    "token: ***",
    "auth: ***, password: ***",
    "deploy key: ***, level: verbose",
    "old token: ***",
    "url: https://***@github.com",
  ].join("\n");
  const { lastFailure } = reported.status;
  expect([message, lastFailure?.message, lastFailure?.log]).toEqual([expected, expected, expected]);
  expect(step).toBe("build");
  expect(events).toEqual([expect.stringContaining(expected)]);
});

test("does not read a recorded failure again", async () => {
  const lastFailure = { uid: "u", message: "denied robot:***", step: "export" };
  const sync = { status: { lastFailure } } as Stored<RemoteSync>;
  const build = { metadata: { name: "web-build-1", uid: "u", resourceVersion: "1" } } as Stored<Build>;
  const reported = newProgress();
  expect(await noteFailure(sync, build, "BuildFailed", {} as Context, reported)).toEqual({
    message: "denied robot:***",
    step: "export",
  });
  expect(reported).toEqual(newProgress());
});

import { expect, test } from "vitest";
import { ApiError } from "../../../bus/kube/errors.ts";
import type { Stored } from "../../../bus/kube/object.ts";
import type { NewChild } from "../../../bus/worker/arguments.ts";
import type { Context } from "../../../bus/worker/function.ts";
import type { Image } from "../kinds/kpack.ts";
import type { RemoteSync } from "../kinds/remotesync.ts";
import { desiredImage } from "./image.ts";
import { applyPlan, planOf } from "./settings.ts";
import { newProgress } from "./status.ts";

type Spec = Image["spec"] & { readonly build?: RemoteSync["spec"]["build"] };
type Rule = (spec: Spec) => boolean;

const [before, now] = ["a".repeat(40), "b".repeat(40)] as const;
const minute = 60_000;
const start = Date.parse("2026-01-01T00:00:00Z");

const sync = (build: RemoteSync["spec"]["build"], status: RemoteSync["status"] = {}): Stored<RemoteSync> => ({
  apiVersion: "modoki.tsuzu.dev/v1alpha1",
  kind: "RemoteSync",
  metadata: { namespace: "team-a", name: "web", uid: "u", resourceVersion: "1" },
  spec: {
    applicationRef: { name: "web" },
    base: { github: { owner: "acme", repo: "web", secretName: "token" } },
    image: { name: "registry.example.com/acme/web" },
    ...(build && { build }),
  },
  status,
});

const imageOf = (of: Stored<RemoteSync>, revision: string): NewChild<Image> =>
  desiredImage({
    ...{ sync: of, revision, url: "https://github.com/acme/web" },
    builder: { kind: "ClusterBuilder", name: "default" },
  });

const found = (build: RemoteSync["spec"]["build"]): Stored<Image> => {
  const { metadata, spec } = imageOf(sync(build), before);
  const more = { namespace: "team-a", uid: "image", resourceVersion: "1" };
  return { apiVersion: "kpack.io/v1alpha2", kind: "Image", metadata: { ...metadata, ...more }, spec };
};

/** The requests to kpack, which refuses by a rule, and the resulting status. */
async function applied(of: Stored<RemoteSync>, image: Stored<Image>, refuses: Rule, at = start) {
  const asked: Spec[] = [];
  const reported = newProgress();
  const events: string[] = [];
  const ctx = {
    now: () => at,
    live: { get: async () => undefined },
    event: (_type: string, reason: string) => void events.push(reason),
    async apply(_kind: unknown, { spec }: { readonly spec: Spec }) {
      asked.push(spec);
      const message = 'admission webhook "policy.example.com" denied the request: no';
      if (refuses(spec)) throw new ApiError("PATCH /image", 400, { reason: "BadRequest", message });
      return { ...image, spec };
    },
  } as unknown as Context;
  const plan = await planOf(of, imageOf(of, now), image, ctx);
  const result = await applyPlan(of, plan, image, ctx, reported).catch((error: unknown) => error as Error);
  return { asked, reported, events, result };
}

const small = { resources: { limits: { memory: "1Gi" } }, cacheSize: "3G" };
const large = { resources: { limits: { memory: "9Gi" } }, cacheSize: "3G" };
const memoryOf = ({ build }: Spec) => build?.resources?.limits?.memory;
const isLarge: Rule = (spec) => memoryOf(spec) === "9Gi";

test("builds the commit with the current settings of the Image when a policy refuses new ones", async () => {
  const { asked, reported, events } = await applied(sync(large), found(small), isLarge);
  const last = asked.at(-1);
  expect(last && memoryOf(last)).toBe("1Gi");
  expect(last?.source.git.revision).toBe(now);
  expect(last?.additionalTags).toEqual([`registry.example.com/acme/web:${now}`]);
  expect(reported.status.refusedSettings).toMatchObject({ kept: "settings", reason: "SettingsRefused" });
  expect(reported.conditions).toMatchObject([{ type: "SettingsApplied", status: "False" }]);
  expect(reported.warnings).toHaveLength(1);
  expect(events).toEqual(["SettingsRefused"]);
});

test("retries refused settings after five minutes, and other settings at once", async () => {
  const { reported } = await applied(sync(large), found(small), isLarge);
  const { refusedSettings } = reported.status as NonNullable<RemoteSync["status"]>;
  const again = (build: RemoteSync["spec"]["build"], millis: number) =>
    applied(sync(build, { refusedSettings }), found(small), isLarge, start + millis);
  expect((await again(large, minute)).asked.map(memoryOf)).toEqual(["1Gi"]);
  expect((await again(large, 6 * minute)).asked.map(memoryOf)).toEqual(["9Gi", "9Gi", "1Gi"]);
  const other = await again({ ...small, resources: { limits: { memory: "2Gi" } } }, minute);
  expect(other.asked.map(memoryOf)).toEqual(["2Gi"]);
  expect(other.reported.status.refusedSettings).toBeNull();
});

test("reports a refused commit with the hint to recreate the Image", async () => {
  const { result, asked, reported } = await applied(sync(small), found(small), () => true);
  expect(result).toMatchObject({ reason: "ImageRefused" });
  expect((result as Error).message).toContain("modoki.tsuzu.dev/recreate-image");
  expect(asked.length).toBe(3);
  expect(reported.status).not.toHaveProperty("refusedSettings");
});

test("adds the condition with the first refusal, and sets it to True when kpack accepts the settings", async () => {
  const never: Rule = () => false;
  expect((await applied(sync(small), found(small), never)).reported.conditions).toEqual([]);
  const condition = {
    type: "SettingsApplied",
    status: "False",
    reason: "SettingsRefused",
    message: "",
  } as const;
  const conditions = [{ ...condition, lastTransitionTime: "2026-01-01T00:00:00Z" }];
  const { reported } = await applied(sync(small, { conditions }), found(small), never);
  expect(reported.conditions).toMatchObject([{ type: "SettingsApplied", status: "True" }]);
});

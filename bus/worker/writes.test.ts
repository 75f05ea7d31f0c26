import fc from "fast-check";
import { expect, test } from "vitest";
import type { KubeClient } from "../kube/client.ts";
import { externalKind } from "../kube/kind.ts";
import type { KubeObject, Stored } from "../kube/object.ts";
import { ownWrites } from "./ownwrites.ts";
import { mergePatched, reconcileWrites, type WriteTools } from "./writes.ts";

// The examples of RFC 7386, appendix A.
test.each([
  [{ a: "b" }, { a: "c" }, { a: "c" }],
  [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
  [{ a: "b" }, { a: null }, {}],
  [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
  [{ a: ["b"] }, { a: "c" }, { a: "c" }],
  [{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
  [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
  [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
  [
    ["a", "b"],
    ["c", "d"],
    ["c", "d"],
  ],
  [{ a: "b" }, ["c"], ["c"]],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: "b", c: null }, { a: "b" }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
])("merge patch - %j patched with %j is %j", (target, patch, result) => {
  expect(mergePatched(target, patch)).toEqual(result);
});

test("merge patch - is idempotent and does not change its target", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (target, patch) => {
      const before = JSON.stringify(target);
      const once = mergePatched(target, patch);
      expect(mergePatched(once, patch)).toEqual(once);
      expect(JSON.stringify(target)).toBe(before);
    }),
  );
});

const Thing = externalKind<KubeObject<unknown, { observedGeneration?: number; log?: string }>>({
  ...{ group: "example.com", version: "v1", kind: "Thing", plural: "things" },
});
const thing = {
  apiVersion: "example.com/v1",
  kind: "Thing",
  metadata: { namespace: "default", name: "thing", uid: "u", resourceVersion: "1", generation: 2 },
} as Stored<KubeObject<unknown, { observedGeneration?: number; log?: string }>>;

const toolsWith = (client: KubeClient, secondary?: boolean): WriteTools =>
  ({
    ...{ client, fn: "one", fieldManager: "one", traceparent: undefined, secondary },
    ...{ own: ownWrites().of({ namespace: "default", name: "thing" }), signal: AbortSignal.timeout(1000) },
    ...{
      reads: { wrote: () => undefined },
      assertOwned: () => undefined,
      onWrite: () => undefined,
      now: () => 0,
    },
  }) as unknown as WriteTools;

/** The status that is sent when this status is written with one condition. */
async function statusSent(
  status: { log?: string },
  message: string,
  secondary?: boolean,
): Promise<{ observedGeneration?: number; log?: string; conditions?: { message: string }[] }> {
  let patch: { status?: Awaited<ReturnType<typeof statusSent>> } = {};
  const client = {
    async mergePatch(_: unknown, __: unknown, body: object) {
      patch = body;
      return thing;
    },
  } as unknown as KubeClient;
  const condition = { type: "Reported", status: "True", reason: "Reported", message } as const;
  await reconcileWrites(thing, toolsWith(client, secondary)).status(Thing, thing, status, [condition]);
  return patch.status ?? {};
}

test("status - only the primary function of a kind sets observedGeneration", async () => {
  const [own, secondary] = [await statusSent({}, ""), await statusSent({}, "", true)];
  expect([own.conditions?.length, secondary.conditions?.length]).toEqual([1, 1]);
  expect([own.observedGeneration, secondary.observedGeneration]).toEqual([2, undefined]);
});

test("status - null clears a field, undefined leaves it, and neither is a change if it changes nothing", async () => {
  const patches: object[] = [];
  const client = {
    async mergePatch(_: unknown, __: unknown, { status }: { status: object }) {
      patches.push(status);
      return thing;
    },
  } as unknown as KubeClient;
  const { status } = reconcileWrites(thing, toolsWith(client));
  const logged = { ...thing, status: { log: "a", observedGeneration: 1 } };
  await status(Thing, logged, { log: undefined, observedGeneration: undefined });
  await status(Thing, thing, { log: null });
  expect(patches).toEqual([]);
  await status(Thing, logged, { log: null, observedGeneration: undefined });
  expect(JSON.parse(JSON.stringify(patches))).toEqual([{ log: null }]);
});

test("status - redacts credentials in all fields and conditions", async () => {
  const { log, conditions } = await statusSent({ log: "a\nghs_abc123\n" }, "https://u:hunter2@h is down");
  expect([log, conditions?.[0]?.message]).toEqual(["a\n***\n", "https://***@h is down"]);
});

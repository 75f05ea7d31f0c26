/** Checked by the type checker: each line marked as an error must be one, and all others must be none. */
import { expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { ConfigMap, defineKind, externalKind, type ObjectOf } from "../kube/kind.ts";
import type { KubeObject, Stored } from "../kube/object.ts";
import type { NewChild, StatusFields } from "./arguments.ts";
import { type Context, defineFunction, type Result } from "./function.ts";

const Thing = defineKind({
  ...{ group: "example.com", version: "v1", kind: "Thing", description: "A thing." },
  spec: z.object({ size: z.int() }),
  status: z.object({
    message: z.string().optional(),
    names: z.array(z.string()).optional(),
    last: z.object({ id: z.int(), reason: z.string().optional() }).optional(),
  }),
});
type Thing = ObjectOf<typeof Thing>;

test("a child needs a spec only if its kind has one", () => {
  expectTypeOf<{ metadata: { name: string }; data: { a: string } }>().toExtend<
    NewChild<ObjectOf<typeof ConfigMap>>
  >();
  expectTypeOf<{ metadata: { name: string; namespace: string | undefined } }>().toExtend<
    NewChild<KubeObject>
  >();
  expectTypeOf<{ metadata: { name: string }; spec: { size: number } }>().toExtend<NewChild<Thing>>();
  expectTypeOf<{ metadata: { name: string } }>().not.toExtend<NewChild<Thing>>();
});

test("null clears a field of a status, and undefined leaves it", () => {
  expectTypeOf<{ message: null; names: undefined; last: null }>().toExtend<StatusFields<Thing>>();
  expectTypeOf<{ last: { id: number; reason: null } }>().toExtend<StatusFields<Thing>>();
  expectTypeOf<{ last: { id: null } }>().not.toExtend<StatusFields<Thing>>();
  expectTypeOf<{ names: null[] }>().not.toExtend<StatusFields<Thing>>();
  expectTypeOf<{ message: number }>().not.toExtend<StatusFields<Thing>>();
});

test("a reconcile may return nothing, on all paths or on some, and options may be booleans", () => {
  const isEnabled = process.argv.length > 99;
  const declared = { name: "thing", secondary: isEnabled, outbound: { github: isEnabled } };
  const wait = async (): Promise<Result | undefined> => ({ requeueAfter: 1 });
  const functions = [
    defineFunction({ ...declared, for: Thing, async reconcile() {}, async finalize() {} }),
    defineFunction({
      ...declared,
      for: Thing,
      async reconcile({ spec }) {
        if (spec.size > 1) return { requeueAfter: 1 };
        if (spec.size > 2) return wait();
        if (spec.size > 3) return;
      },
    }),
    // @ts-expect-error: not a result.
    defineFunction({ ...declared, for: Thing, reconcile: async () => ({ requeueAfter: "soon" }) }),
    // @ts-expect-error: not a promise.
    defineFunction({ ...declared, for: Thing, reconcile: () => undefined }),
  ];
  expect(functions.map(({ secondary }) => secondary)).toEqual([false, false, false, false]);
});

/** Never called. */
export async function calls(ctx: Context, thing: Stored<Thing>): Promise<void> {
  await ctx.apply(ConfigMap, { metadata: { name: "a", namespace: "b" }, data: { a: "b" } });
  await ctx.create(externalKind({ ...Thing, kind: "Other" }), { metadata: { name: "a" } });
  // @ts-expect-error: a Thing has a spec.
  await ctx.apply(Thing, { metadata: { name: "a" } });
  // @ts-expect-error: the platform sets the owner.
  await ctx.apply(ConfigMap, { metadata: { name: "a", ownerReferences: [] } });
  await ctx.status(Thing, thing, { message: null, names: undefined });
  // @ts-expect-error: not a field of the status.
  await ctx.status(Thing, thing, { massage: null });
  expectTypeOf(await ctx.read.list(Thing, { labels: "app=web" })).toEqualTypeOf<Stored<Thing>[]>();
  await ctx.live.list(Thing, { allNamespaces: true, labels: { matchLabels: { app: "web" } } });
  // @ts-expect-error: the namespace is an option.
  await ctx.read.list(Thing, "default");
  // @ts-expect-error: not an operator.
  await ctx.read.list(Thing, { labels: { matchExpressions: [{ key: "app", operator: "Gt" }] } });
}

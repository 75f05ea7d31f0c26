import { describe, expect, test } from "vitest";
import { z } from "zod";
import { adaptWebhook } from "./adapter.ts";
import { github } from "./github/github.ts";
import { type AttributeFields, defineProvider, type WebhookTrigger } from "./provider.ts";
import { bitbucket } from "./providers/bitbucket.ts";
import { standardWebhooks } from "./providers/generic.ts";
import { gitea } from "./providers/gitea.ts";
import { gitlab } from "./providers/gitlab.ts";
import { selectFields, selectionsOf } from "./selection.ts";
import { selectedEvent } from "./sharedselection.ts";
import { signatures } from "./signatures.ts";

const signature = signatures.hmac({ header: "X-Signature" });
const keys: WebhookTrigger["keys"] = () => [];
const acme = (name = "acme") =>
  defineProvider({
    name,
    signature,
    event: { header: "X-Event" },
    events: { sold: z.object({ shop: z.string() }) },
  });

test("an unknown event, and one without fields, are compile-time errors", () => {
  const select = z.object({ id: z.number() });
  // @ts-expect-error: GitHub has no such event.
  expect(github.on("pushed", { select, keys })).toBeDefined();
  // @ts-expect-error: Gitea has no such event.
  expect(gitea.on("check_run", { select, keys })).toBeDefined();
  // @ts-expect-error: GitLab's header has "Push Hook".
  expect(gitlab.on("push", { select, keys })).toBeDefined();
  // @ts-expect-error: Bitbucket's key has a prefix.
  expect(bitbucket.on("push", { select, keys })).toBeDefined();
  // @ts-expect-error: the project has defined only "sold".
  expect(() => acme().on("bought", { keys })).toThrow('the event "bought" of "acme" has no schema');
  // @ts-expect-error: this event has no schema.
  expect(() => github.on("release", { keys })).toThrow('"release" of "github" has no schema: pass `select`');
  expect(standardWebhooks.on("anything.at-all", { select, keys })).toMatchObject({
    event: "anything.at-all",
  });
});

test("the data has the type of the selected fields, or of the event's schema", () => {
  github.on("push", { keys: ({ data }) => [{ namespace: data.ref, name: data.repository.owner.login }] });
  // @ts-expect-error: the built-in schema does not select it.
  github.on("push", { keys: ({ data }) => [{ namespace: "", name: data.compare }] });
  github.on("push", {
    select: z.object({ compare: z.string() }),
    keys: ({ event, data }) => [{ namespace: event satisfies "push", name: data.compare }],
  });
  acme().on("sold", {
    // @ts-expect-error: the text is not a number.
    keys: ({ data }) => [{ namespace: "", name: data.shop satisfies number }],
  });
});

test.each(["", "Acme", "a.b", "a/b", "1a", "a-", "a".repeat(41)])("rejects the name %j", (name) => {
  expect(() => acme(name)).toThrow(`expected a provider name of lower-case letters`);
});

describe("a selection", () => {
  const tree: z.ZodType = z.object({ name: z.string(), children: z.lazy(() => z.array(tree)) });
  test.each<[string, z.ZodType]>([
    [
      "fields of every kind",
      z.object({ a: z.string().min(1).nullish(), b: z.array(z.int()), c: z.enum(["x"]) }),
    ],
    [
      "unions and records",
      z.object({ a: z.union([z.string(), z.null()]), b: z.record(z.string(), z.boolean()) }),
    ],
    ["everything", z.looseObject({ a: z.unknown() })],
    ["a default", z.object({ a: z.string().default("none"), b: z.number().catch(0) })],
    ["a refinement", z.object({ a: z.string() }).refine(({ a }) => a !== "")],
    ["recursion", tree],
  ])("may have %s", (_, select) => {
    expect(github.on("release", { select, keys }).select).toBe(select);
  });

  test.each<[z.ZodType, string]>([
    [z.object({ a: z.object({ b: z.string().transform(Number) }) }), "a.b computes a value"],
    [z.object({ a: z.string().trim() }), "a computes a value"],
    [z.object({ a: z.coerce.number() }), "a computes a value"],
    [z.preprocess(String, z.string()), "its value computes a value"],
    [z.object({ a: z.array(z.date()) }), "a is not JSON"],
    [z.object({ a: z.strictObject({}) }), "a is strict"],
  ])("must only select fields: %#", (select, problem) => {
    const what = '`select` of the event "release" of "github" must only select fields, but ';
    expect(() => github.on("release", { select, keys })).toThrow(what + problem);
    const defined = () =>
      defineProvider({ name: "acme", signature, event: { field: "e" }, events: { select } });
    expect(defined).toThrow(`the event "select" of "acme" must only select fields, but ${problem}`);
  });
});

test("text that an attribute cannot hold counts as absent, unless the provider is strict", () => {
  const fields = { source: ["s", "url"], time: ["t"], owner: ["a"], fullName: ["f"] };
  const provider = (attributes: AttributeFields) =>
    defineProvider({ name: "acme", signature, event: { field: "e" }, events: "any", attributes });
  const payload = { s: "not a URI", t: "yesterday", a: "x\ny", f: 7, url: "https://acme.example.com" };
  const now = new Date("2026-01-02T03:04:05.678Z");
  const adapted = (attributes: AttributeFields, of: object = payload) =>
    adaptWebhook({
      provider: provider(attributes),
      ...{ hook: "app", event: "Sold out", delivery: "1", payload: of, schemas: [z.object({})], now },
    });
  expect(adapted({ ...fields, fullName: [] })).toMatchObject({
    owner: "",
    event: { source: payload.url, time: now.toISOString(), type: "dev.denrei.acme.sold_out" },
  });
  expect(adapted(fields, { f: "Acme/Team/Web" })).toMatchObject({
    ...{ owner: "acme/team", repository: "web" },
    event: { source: "/acme/app" },
  });
  expect(() => adapted({ ...fields, strict: true })).toThrow(
    "does not fit the webhook Sold out: t: expected the format of the attribute time",
  );
});

describe("selections of several functions", () => {
  const payload = {
    ref: "main",
    secret: "hush",
    repository: { id: 1, name: "web", secret: "hush" },
    commits: [
      { id: "a", added: ["x"], secret: "hush" },
      { id: "b", added: [], secret: "hush" },
    ],
  };
  const byId = z.object({
    repository: z.object({ id: z.number() }),
    commits: z.array(z.object({ id: z.string() })),
  });
  const byName = z.object({
    repository: z.object({ name: z.string() }),
    commits: z.array(z.object({ added: z.array(z.string()) })),
  });

  test("are published as their union, and nothing else", () => {
    const data = {
      repository: { id: 1, name: "web" },
      commits: [
        { id: "a", added: ["x"] },
        { id: "b", added: [] },
      ],
    };
    expect(selectFields(payload, [byId, byName])).toEqual({ data });
    expect(selectFields(payload, [byName, byId, byName])).toEqual({ data });
    // Each function gets its own fields of it.
    expect(byId.parse(data)).toEqual(byId.parse(payload));
    expect(byName.parse(data)).toEqual(byName.parse(payload));
  });

  test("are published without those that the payload does not fit", () => {
    const other = z.object({ ref: z.number() });
    expect(selectFields(payload, [other, byId])).toEqual({ data: byId.parse(payload) });
    expect(selectFields({ repository: { id: "1" }, commits: [] }, [other, byId])).toEqual({
      problems: ["ref: expected number, found nothing", "repository.id: expected number, found string"],
    });
  });

  test("cannot set a prototype", () => {
    const own = JSON.parse('{"a": {"__proto__": {"polluted": true}}, "b": 1}');
    const [loose, one] = [z.looseObject({ a: z.looseObject({}) }), z.object({ a: z.object({}) })];
    const selected = selectFields(own, [loose, one]);
    expect((selected as { data: { a: object } }).data.a).not.toHaveProperty("polluted");
    expect({}).not.toHaveProperty("polluted");
  });

  test("are found by their event, and two providers with one name are rejected", () => {
    const [one, other] = [acme(), acme()];
    const triggers = [one.on("sold", { keys }), one.on("sold", { select: z.object({}), keys })];
    const selections = selectionsOf(triggers.map(selectedEvent), [github, one]);
    expect(selections.of("acme", "sold")).toHaveLength(2);
    expect(selections.of("github", "push")).toEqual([]);
    expect([...selections.providers.keys()]).toEqual(["github", "acme"]);
    expect(() => selectionsOf([], [one, other])).toThrow(
      'two different providers of webhooks with the name "acme"',
    );
    expect(() => selectionsOf([], [github, acme("github")])).toThrow('the name "github"');
  });
});

import { expect, test } from "vitest";
import { z } from "zod";
import { ConfigMap } from "../kube/kind.ts";
import { github } from "../webhooks/github/github.ts";
import type { Webhook } from "../webhooks/provider.ts";
import { gitea } from "../webhooks/providers/gitea.ts";
import { keysOfWebhook } from "./router.ts";

const key = (name: string) => ({ namespace: "a", name });
/** As the gateway has stored it: with the fields of several functions, or of an earlier version. */
const webhook = (data: unknown, provider = "github"): Webhook => ({
  provider,
  event: "release",
  delivery: "1",
  owner: "acme",
  repository: "web",
  data,
  traceparent: undefined,
});
const byName = github.on("release", {
  select: z.object({ name: z.string() }),
  keys: ({ data }) => [key(Object.keys(data).join()), key("shared")],
});
const byId = github.on("release", {
  select: z.object({ id: z.number() }),
  keys: async ({ data }, find) => [...(await find("id", String(data.id))), key("shared")],
});

async function keysOf(triggers: readonly (typeof byName)[], of: Webhook) {
  const problems: (readonly string[])[] = [];
  const find = async (index: string, value: string) => [key(`${index} ${value}`)];
  const invalid = (error: TypeError) => problems.push([error.message]);
  const fn = { for: ConfigMap, webhooks: triggers };
  const found = await keysOfWebhook(fn, of, { find }, (some) => problems.push(some), invalid);
  return { names: found.map(({ name }) => name), problems };
}

test("a function sees only the fields that it selects, and each object is requested once", async () => {
  expect(await keysOf([byName, byId], webhook({ name: "one", id: 1, other: true }))).toEqual({
    names: ["name", "shared", "id 1"],
    problems: [],
  });
});

test("a stored webhook without a selected field requests nothing for it, and is reported without values", async () => {
  expect(await keysOf([byName, byId], webhook({ name: "one", id: "secret" }))).toEqual({
    names: ["name", "shared"],
    problems: [["id: expected number, found string"]],
  });
  expect(await keysOf([byId], webhook(null))).toEqual({
    names: [],
    problems: [["payload: expected object, found null"]],
  });
});

test("a key that no object can have is reported, and the other keys are requested", async () => {
  const keys = () => [{ namespace: "", name: "a" }, key("b")];
  const wrong = github.on("release", { select: z.object({}), keys });
  expect(await keysOf([wrong], webhook({}))).toEqual({
    names: ["b"],
    problems: [
      ['expected the namespace of the ConfigMap a in its key, found "": ConfigMap is a namespaced kind'],
    ],
  });
});

test("the same event of another provider requests nothing", async () => {
  const other = gitea.on("release", { select: z.object({}), keys: () => [key("gitea")] });
  expect(await keysOf([byName, other], webhook({ name: "one" }, "gitea"))).toEqual({
    names: ["gitea"],
    problems: [],
  });
});

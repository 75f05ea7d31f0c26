/** `denrei webhooks` */
import { afterAll, beforeAll, expect, test } from "vitest";
import { streams } from "../../bus/subjects.ts";
import { ensureTopology } from "../../bus/topology.ts";
import { storeDelivery } from "../../bus/webhooks/deliveries.ts";
import type { WebhookEventName } from "../../bus/webhooks/github/payloads.ts";
import { githubEvent } from "../../bus/webhooks/github/published.ts";
import { type LocalBus, startLocalBus } from "../harness/localbus.ts";
import { example, type Payload, push } from "../harness/webhooks.ts";
import { operatorCommands } from "./operator.ts";
import { run } from "./program.ts";

let local: LocalBus;
beforeAll(async () => {
  local = await startLocalBus();
});
afterAll(() => local?.stop());

const { env, ask, output, json } = operatorCommands(() => local.natsUrlFor("operator"), "webhooks");

async function store(
  event: WebhookEventName,
  delivery: string,
  payload: Payload = example(event),
): Promise<void> {
  const now = new Date();
  const { event: cloudEvent, owner, repository } = githubEvent({ event, delivery, payload, now });
  const at = { provider: "github", hook: "app", event, owner, repository };
  await storeDelivery(local.bus, at, cloudEvent, { signal: AbortSignal.timeout(60_000), now: Date.now });
}
const stored = async (): Promise<number> =>
  (await local.bus.jsm.streams.info(streams.webhooks)).state.messages;

test("a bus that no gateway has used yet has none", async () => {
  expect(await output("list")).toBe("No webhooks.\n");
  expect(await json("list")).toEqual([]);
  // A real process exits too.
  const ended = await run(["webhooks", "list"], { env: env() });
  expect(ended).toMatchObject({ code: 0, stdout: "No webhooks.\n", stderr: "" });
  expect(await output("replay", "--since", "1h")).toBe("No webhooks.\n");
});

test("list shows webhooks newest first, filtered and limited", async () => {
  await ensureTopology(local.bus, { replicas: 1, ackWaitMillis: 10_000 });
  await store("push", "first", push("Acme/Web", "main"));
  await store("pull_request", "second");
  // --since is in milliseconds.
  const stored = Date.now();
  await expect.poll(() => Date.now(), { interval: 1 }).toBeGreaterThan(stored + 1);
  await store("installation", "third");
  const text = await output("list");
  expect(text.split("\n")[0]).toMatch(/^DELIVERY +EVENT +REPOSITORY +SUBJECT +AGE$/);
  expect(text).toMatch(/^first +push +acme\/web +refs\/heads\/main +\d+s$/m);
  expect(text).toMatch(/^third +installation\.\w+ +octocat +\d+ +\d+s$/m);
  const ids = async (...args: string[]) =>
    (await json("list", ...args)).map(({ delivery }: { delivery: string }) => delivery);
  expect(await ids()).toEqual(["third", "second", "first"]);
  expect(await ids("--repository", "ACME/web")).toEqual(["first"]);
  expect(await ids("--event", "pull_request")).toEqual(["second"]);
  expect(await ids("--limit", "2")).toEqual(["third", "second"]);
  expect(await ids("--since", "1h")).toHaveLength(3);
  expect(await ids("--until", "1h")).toEqual([]);
  const [{ time }] = await json("list", "--event", "pull_request");
  expect(await ids("--since", new Date(Date.parse(time) + 1).toISOString())).toEqual(["third"]);
  expect(await output("list", "--limit", "1")).toContain(
    "Older webhooks are not shown. Raise --limit (now 1)",
  );
});

test("show prints the stored payload, or reports a missing webhook", async () => {
  const text = await output("show", "first");
  expect(text).toMatch(/^type: +com\.github\.push$/m);
  expect(text).toContain('"ref": "refs/heads/main"');
  expect((await json("show", "first")).data.repository.full_name).toBe("Acme/Web");
  const { code, stderr } = await ask("show", "nobody");
  expect(code).toBe(1);
  expect(stderr).toMatch(/^denrei: no stored webhook has the delivery ID nobody\./);
});

test("replay publishes the given webhooks, or those in a range, once each", async () => {
  const before = await stored();
  expect(await output("replay", "first", "second")).toMatch(
    /^Published again: first \(push in acme\/web\)\nPublished again: second \(pull_request\.\w+ in .*\)\n$/,
  );
  expect(await stored()).toBe(before + 2);
  expect(await output("show", "first")).toMatch(/^stored: +2 times$/m);
  expect(await output("replay", "--repository", "acme/web", "--dry-run")).toBe(
    "Would be published again: first (push in acme/web)\n",
  );
  expect(await stored()).toBe(before + 2);
  await output("replay", "--repository", "acme/web", "--since", "1h");
  expect(await stored()).toBe(before + 3);
  const last = await local.bus.jsm.streams.getMessage(streams.webhooks, { seq: before + 3 });
  expect(last?.header.get("ce-id")).toBe("first");
  // All or nothing: an unknown ID publishes none.
  expect(await ask("replay", "first", "nobody")).toMatchObject({ code: 1, stdout: "" });
  expect(await stored()).toBe(before + 3);
});

test.for([
  ["replay", "specify delivery IDs or a range"],
  ["replay first --since 1h", "not both"],
  ["list --since yesterday", "Expected an age such as 15m"],
  ["list --repository web", "Expected owner/name"],
  ["list --limit 0", "Expected a whole number from 1"],
] as const)("denrei webhooks %s is a usage error", async ([args, says]) => {
  const { code, stderr } = await ask(...args.split(" "));
  expect(stderr).toContain(says);
  expect(code).toBe(2);
});

/** Accepted webhooks: the gateway publishes an event and answers 202. */
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseWebhookSubject } from "../../bus/subjects.ts";
import { webhookPayloads } from "../../bus/webhooks/github/payloads.ts";
import type { LocalBus } from "../harness/localbus.ts";
import { example, examplesByEvent, hookOf, type Payload, signatureOf } from "../harness/webhooks.ts";
import {
  lastSequence,
  openGateway,
  startWebhookBus,
  storedAfter,
  storedOf,
  type TestGateway,
  withGateway,
} from "./gateways.ts";
import { ask, headOf, openLine } from "./requests.ts";

const limit = 2 ** 20;
let local: LocalBus;
let gateway: TestGateway;
beforeAll(async () => {
  local = await startWebhookBus();
  const budget = { body: limit, small: 2 ** 18, allSmall: 2 ** 22, allLarge: 2 ** 23 };
  gateway = await openGateway(local, { budget });
});
afterAll(async () => {
  await gateway?.stop();
  await local?.stop();
});

const push = () => hookOf("push", example("push"));
const formOf = (payload: unknown): string =>
  new URLSearchParams({ payload: JSON.stringify(payload) }).toString();

/** The only new message: its subject, headers, and parsed data. */
async function newMessage(before: number) {
  const found = await storedAfter(local, before);
  expect(found).toHaveLength(1);
  const [{ subject, header, data } = expect.fail()] = found;
  // The direct get adds headers of its own.
  const own = [...header].filter(([name]) => !/^Nats-(Stream|Subject|Sequence|Time-Stamp)$/.test(name));
  const headers = Object.fromEntries(own.map(([name, values]) => [name, values.join()]));
  return { subject, headers, data: JSON.parse(Buffer.from(data).toString()) as Payload };
}

const bodies: readonly [type: string, write: (payload: unknown) => string][] = [
  ["application/json", JSON.stringify],
  ["application/json; charset=utf-8", JSON.stringify],
  ["Application/JSON ;charset=UTF-8", JSON.stringify],
  ["application/x-www-form-urlencoded", formOf],
  ["application/x-www-form-urlencoded; charset=utf-8", formOf],
];

test.each(bodies)("publishes subject, headers, and data of a webhook sent as %s", async (type, write) => {
  const before = await lastSequence(local);
  const payload = example("push");
  const { headers, delivery } = push();
  const body = write(payload);
  const signature = signatureOf(body);
  const answer = await ask(gateway.hookUrl(), {
    body,
    headers: { ...headers, "content-type": type, "x-hub-signature-256": signature },
  });
  expect(answer).toMatchObject({ status: 202, text: "stored" });
  const message = await newMessage(before);
  expect(message).toMatchObject({
    subject: "webhooks.github.push.codertocat.hello-world",
    data: {
      ref: "refs/tags/simple-tag",
      repository: { id: 186853002, name: "Hello-World", owner: { login: "Codertocat" } },
      sender: { login: "Codertocat", type: "User" },
    },
  });
  expect(message.headers).toEqual({
    "Nats-Msg-Id": `github/app/${delivery}`,
    "ce-id": delivery,
    "ce-specversion": "1.0",
    "ce-type": "com.github.push",
    "ce-source": "https://github.com/Codertocat/Hello-World",
    "ce-subject": "refs/tags/simple-tag",
    "ce-time": expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    "ce-datacontenttype": "application/json",
    "ce-traceparent": expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/),
  });
  expect(payload).toMatchObject(message.data);
  expect(message.data).not.toHaveProperty("head_commit");
});

test("accepts a signature in upper case, and a path with a query", async () => {
  const { headers, body, delivery } = push();
  const digits = signatureOf(body).slice("sha256=".length).toUpperCase();
  const asked = { body, headers: { ...headers, "x-hub-signature-256": `sha256=${digits}` } };
  expect(await ask(`${gateway.hookUrl()}?from=github`, asked)).toMatchObject({ status: 202 });
  expect(await storedOf(local, delivery)).toHaveLength(1);
});

test("accepts a body of exactly the maximum size that arrives in pieces", async () => {
  const payload = { ...example("push"), filler: "" };
  const filler = "x".repeat(limit - JSON.stringify(payload).length);
  const { body, headers, delivery } = hookOf("push", { ...payload, filler });
  expect(body).toHaveLength(limit);
  const line = await openLine(gateway.url);
  line.socket.write(
    headOf(gateway.hookUrl(), { ...headers, "content-length": String(limit), connection: "close" }),
  );
  for (let at = 0; at < limit; at += 100_001) {
    line.socket.write(body.slice(at, at + 100_001));
    await new Promise(setImmediate);
  }
  expect(await line.closed).toMatch(/^HTTP\/1\.1 202 /);
  expect(await storedOf(local, delivery)).toHaveLength(1);
});

test("serves webhooks only below the configured path", () =>
  withGateway(
    local,
    async (other) => {
      expect(other.hookUrl()).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/hooks\/of\.denrei\/github\/app$/);
      expect(await ask(other.hookUrl(), push())).toMatchObject({ status: 202 });
      const usual = `${new URL(other.url).origin}/github/app`;
      expect(await ask(usual, push())).toMatchObject({ status: 404 });
    },
    { webhookPath: "/hooks/of.denrei" },
  ));

test("makes each name one token of the subject, or answers 422", async () => {
  const name = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom("", ".", "*", ">", "a.b", "a b", "_", "=2E", "a\r\nb", "\ud800", "\u0000", "Ünï.Cøde"),
  );
  let before = await lastSequence(local);
  const named = fc.asyncProperty(name, name, async (login, repository) => {
    const payload = example("push");
    const other = { ...(payload.repository as object), name: repository, owner: { login } };
    const { status } = await ask(gateway.hookUrl(), hookOf("push", { ...payload, repository: other }));
    const subjects = (await storedAfter(local, before)).map(({ subject }) => parseWebhookSubject(subject));
    before += subjects.length;
    const at = { provider: "github", event: "push" };
    const [owner, lower] = [login.toLowerCase(), repository.toLowerCase()];
    expect([status, subjects]).toEqual(
      status === 202 ? [202, [{ ...at, owner, repository: lower }]] : [422, []],
    );
    outcomes.add(status);
  });
  const outcomes = new Set<number>();
  await fc.assert(named, { numRuns: 200 });
  expect([...outcomes].sort()).toEqual([202, 422]);
});

test("answers any signed JSON with 200, 202, or 422", async () => {
  const events = [...Object.keys(webhookPayloads), "ping", "star"];
  const signed = fc.asyncProperty(
    fc.constantFrom(...events),
    fc.jsonValue(),
    fc.nat(),
    async (name, json, at) => {
      const whole = examplesByEvent.get(name)?.[0] ?? {};
      const keys = Object.keys(whole);
      for (const payload of [json, { ...whole, [keys[at % keys.length] ?? "key"]: json }]) {
        const { status } = await ask(gateway.hookUrl(), hookOf(name, payload));
        expect([200, 202, 422]).toContain(status);
      }
    },
  );
  await fc.assert(signed, { numRuns: 200 });
});

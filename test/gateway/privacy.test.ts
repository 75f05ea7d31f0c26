/** Payload fields outside the event's schema never leave the gateway, neither on the bus nor in the log. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type WebhookEventName, webhookPayloads } from "../../bus/webhooks/github/payloads.ts";
import { hookSecret } from "../harness/environment.ts";
import type { LocalBus } from "../harness/localbus.ts";
import { example, examplesByEvent, hookOf, type Payload, signatureOf } from "../harness/webhooks.ts";
import { lastSequence, openGateway, startWebhookBus, storedAfter, type TestGateway } from "./gateways.ts";
import { ask } from "./requests.ts";

/** Part of every field that a test adds, and of no other field. */
const canary = "c4n4ry";
const oldSecret = "the one before";

let local: LocalBus;
let gateway: TestGateway;
beforeAll(async () => {
  local = await startWebhookBus();
  gateway = await openGateway(local, { secrets: { "github.app": `${oldSecret}\n${hookSecret}\n` } });
});
afterAll(async () => {
  await gateway?.stop();
  await local?.stop();
});

/** Adds to each object an unknown field, as GitHub may do at any time. */
function withCanaries(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withCanaries);
  if (typeof value !== "object" || value === null) return value;
  const inner = Object.entries(value).map(([name, field]) => [name, withCanaries(field)]);
  return { ...Object.fromEntries(inner), [`${canary}_name`]: `${canary} value` };
}

/** All strings in a payload. */
function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** Strings of fields that people write, or that identify or locate them. */
function personalIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, field]) =>
    /^(email|title|body|message|description|bio|company|location|blog)$/.test(name)
      ? textsIn(field).filter(Boolean)
      : personalIn(field),
  );
}

/** Sends a signed body. */
const send = (event: string, body: string, type: string) =>
  ask(gateway.hookUrl(), {
    body,
    headers: {
      ...hookOf(event, {}).headers,
      "content-type": type,
      "x-hub-signature-256": signatureOf(body),
    },
  });

const writers: readonly [type: string, write: (text: string) => string][] = [
  ["application/json", (text) => text],
  ["application/x-www-form-urlencoded", (text) => new URLSearchParams({ payload: text }).toString()],
];
/** Personal strings in the examples of all supported events. */
const personal = new Set(
  Object.keys(webhookPayloads).flatMap((event) => personalIn(examplesByEvent.get(event))),
);
const cases = Object.keys(webhookPayloads).flatMap((event) =>
  writers.map(([type, write]) => ({ event: event as WebhookEventName, type, write })),
);

const attributes = [
  "datacontenttype",
  "id",
  "source",
  "specversion",
  "subject",
  "time",
  "traceparent",
  "type",
];

test("the examples contain personal data", () => {
  expect(personal.size).toBeGreaterThan(20);
  expect([...personal].filter((text) => text.includes("@"))).not.toEqual([]);
});

describe("publishes only the fields of the schema:", () => {
  test.each(cases)("$event as $type", async ({ event, type, write }) => {
    const examples = examplesByEvent.get(event) ?? [];
    expect(examples.length).toBeGreaterThan(2);
    for (const payload of examples) {
      const before = await lastSequence(local);
      expect(await send(event, write(JSON.stringify(withCanaries(payload))), type)).toMatchObject({
        status: 202,
      });
      const [message = expect.fail(), ...more] = await storedAfter(local, before);
      expect(more).toEqual([]);
      const data = Buffer.from(message.data).toString();
      const headers = [...message.header].filter(([name]) => name.startsWith("ce-"));
      expect(headers.map(([name]) => name.slice(3)).sort()).toEqual(attributes);
      expect(`${message.subject}\n${headers.join("\n")}\n${data}`).not.toContain(canary);
      expect(JSON.parse(data)).toEqual(webhookPayloads[event].parse(payload));
      expect(payload).toMatchObject(JSON.parse(data));
      for (const text of textsIn(JSON.parse(data))) expect(personal).not.toContain(text);
    }
  });
});

test("logs no secrets, bodies, or signatures, even at debug level", async () => {
  const text = (payload: Payload) => JSON.stringify(payload);
  const wrong = { ...example("push"), ref: 7, after: [canary], [canary]: canary, repository: canary };
  for (const [type, write] of writers) {
    for (const [body, status] of [
      [text(example("push")), 202],
      [text(wrong), 422],
      [`{"${canary}": ${canary}}`, 422],
      [`${canary} no JSON`, 422],
    ] as const)
      expect(await send("push", write(body), type)).toMatchObject({ status });
  }
  expect(await send("star", `{"${canary}": 1}`, "application/json")).toMatchObject({ status: 200 });
  const strange = { [canary]: canary, "x-hub-signature-256": canary, "content-type": "application/json" };
  expect(await ask(`${gateway.hookUrl(canary)}?${canary}`, { body: canary, headers: strange })).toMatchObject(
    {
      status: 401,
    },
  );
  expect(await ask(`${gateway.hookUrl()}/more?${canary}`, { body: canary })).toMatchObject({ status: 404 });
  const odd = hookOf("push", example("push"));
  const named = { ...odd.headers, "x-github-event": canary, "x-github-delivery": `${canary}/` };
  expect(await ask(gateway.hookUrl(), { ...odd, headers: named })).toMatchObject({ status: 400 });

  const log = gateway.log.all.join("\n");
  for (const outcome of ["stored", "malformed", "not_json", "ignored", "unsigned", "headers"])
    expect(log).toContain(`"outcome":"${outcome}"`);
  expect(log).toContain('"request":"POST /github/app/more"');
  // The log names the invalid field and its type.
  expect(log).toContain("ref: expected string, found number");
  for (const hidden of [canary, hookSecret, oldSecret, "sha256=", signatureOf(odd.body).slice(7)])
    expect(log).not.toContain(hidden);
  for (const known of textsIn(example("push")).filter((value) => /\s|@/.test(value)))
    expect(log).not.toContain(known);
});

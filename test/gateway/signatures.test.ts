/** Signatures: the gateway checks them over the exact bytes, and publishes nothing without a valid one. */
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { LocalBus } from "../harness/localbus.ts";
import { example, hookOf, signatureOf } from "../harness/webhooks.ts";
import { lastSequence, openGateway, startWebhookBus, storedOf, type TestGateway } from "./gateways.ts";
import { ask, openLine } from "./requests.ts";

let local: LocalBus;
let gateway: TestGateway;
beforeAll(async () => {
  local = await startWebhookBus();
  gateway = await openGateway(local);
});
afterAll(async () => {
  await gateway?.stop();
  await local?.stop();
});

describe("checks the signature over the received bytes:", () => {
  const payload = { ...example("push"), ref: "refs/heads/ずんどこ-🥁" };
  const text = JSON.stringify(payload);
  const bodies: readonly [what: string, body: Buffer, ref: string][] = [
    ["whitespace", Buffer.from(`\r\n\t ${JSON.stringify(payload, null, "\t")}\n\n`), payload.ref],
    ["Unicode", Buffer.from(text), payload.ref],
    ["escapes", Buffer.from(text.replace("ず", "\\u305a").replace("refs/", "refs\\/")), payload.ref],
    ["a duplicate key", Buffer.from(text.replace("{", '{"ref":"refs/heads/other",')), payload.ref],
    [
      "bytes that are not UTF-8",
      Buffer.from(text.replace("ず", "\xff"), "latin1"),
      Buffer.from(payload.ref.replace("ず", "\xff"), "latin1").toString(),
    ],
  ];
  test.each(bodies)("%s", async (_what, body, ref) => {
    const { headers, delivery } = hookOf("push", payload);
    const signed = { ...headers, "x-hub-signature-256": signatureOf(body) };
    expect(await ask(gateway.hookUrl(), { body, headers: signed })).toMatchObject({ status: 202 });
    const [message = expect.fail(), ...more] = await storedOf(local, delivery);
    expect(more).toEqual([]);
    expect(JSON.parse(Buffer.from(message.data).toString()).ref).toBe(ref);
    // The signature does not cover the same JSON in other bytes.
    const other = Buffer.concat([body, Buffer.from(" ")]);
    expect(await ask(gateway.hookUrl(), { body: other, headers: signed })).toMatchObject({ status: 401 });
  });

  test("a form, not the JSON in it", async () => {
    const { headers } = hookOf("push", payload);
    const body = new URLSearchParams({ payload: text }).toString();
    const form = { ...headers, "content-type": "application/x-www-form-urlencoded" };
    // The signature in `headers` is of the JSON.
    expect(await ask(gateway.hookUrl(), { body, headers: form })).toMatchObject({ status: 401 });
    const signed = { ...form, "x-hub-signature-256": signatureOf(body) };
    expect(await ask(gateway.hookUrl(), { body, headers: signed })).toMatchObject({ status: 202 });
  });
});

/** All statuses that senders without the secret can receive. */
const refused = [400, 401, 404, 405, 408, 411, 413, 415, 417, 431];

/** Expects that the gateway rejects all requests, publishes nothing, and keeps working. */
async function expectRejected(strangers: () => Promise<void>): Promise<void> {
  const before = await lastSequence(local);
  const counted = await gateway.outcomes();
  await strangers();
  const now = Object.entries(await gateway.outcomes()).filter(([key, count]) => counted[key] !== count);
  for (const [key] of now) expect(refused).toContain(Number(key.split(" ")[2]));
  expect(await lastSequence(local)).toBe(before);
  // Strangers cannot fill the log at levels that alert operators.
  expect(gateway.log.records().filter(({ level }) => /warn|error/.test(String(level)))).toEqual([]);
  const hook = hookOf("push", example("push"));
  expect(await ask(gateway.hookUrl(), hook)).toMatchObject({ status: 202 });
}

describe("rejects without the secret:", () => {
  const hook = hookOf("push", example("push"));
  const body = Buffer.from(hook.body);

  test("a body with one changed bit", () =>
    expectRejected(() =>
      fc.assert(
        fc.asyncProperty(fc.nat({ max: body.length * 8 - 1 }), async (bit) => {
          const changed = Buffer.from(body);
          changed[bit >> 3] = (changed[bit >> 3] as number) ^ (1 << (bit & 7));
          const { status } = await ask(gateway.hookUrl(), { body: changed, headers: hook.headers });
          expect(status).toBe(401);
        }),
        { numRuns: 300 },
      ),
    ));

  test("a signature with one changed bit", () =>
    expectRejected(async () => {
      const signature = Buffer.from(signatureOf(body).slice("sha256=".length), "hex");
      for (let bit = 0; bit < 256; bit++) {
        const changed = Buffer.from(signature);
        changed[bit >> 3] = (changed[bit >> 3] as number) ^ (1 << (bit & 7));
        const headers = { ...hook.headers, "x-hub-signature-256": `sha256=${changed.toString("hex")}` };
        expect(await ask(gateway.hookUrl(), { body, headers })).toMatchObject({ status: 401 });
      }
    }));

  test("a truncated, empty, or repeated body", () =>
    expectRejected(async () => {
      for (const other of [
        body.subarray(0, -1),
        body.subarray(1),
        Buffer.alloc(0),
        Buffer.concat([body, body]),
      ])
        expect(await ask(gateway.hookUrl(), { body: other, headers: hook.headers })).toMatchObject({
          status: 401,
        });
    }));

  /** All characters that Node allows in a header. */
  const headerText = fc
    .string({ unit: fc.integer({ min: 32, max: 255 }).map((code) => String.fromCharCode(code)) })
    .filter((value) => !value.includes("\x7f"));
  const hex = fc.string({ unit: fc.constantFrom(..."0123456789abcdefABCDEF"), minLength: 64, maxLength: 64 });
  const known = fc.record(
    {
      "content-type": fc.oneof(
        fc.constantFrom("application/json", "application/x-www-form-urlencoded"),
        headerText,
      ),
      "x-hub-signature-256": fc.oneof(
        hex.map((digits) => `sha256=${digits}`),
        headerText,
      ),
      "x-github-event": fc.oneof(fc.constantFrom("push", "ping", "star"), headerText),
      "x-github-delivery": fc.oneof(fc.uuid(), headerText),
      "x-anything": headerText,
      "content-encoding": fc.constantFrom("gzip", "br", "identity"),
      "transfer-encoding": fc.constant("chunked"),
      expect: fc.constantFrom("100-continue", "200-ok"),
    },
    { requiredKeys: [] },
  );
  const path = fc.oneof(
    { weight: 3, arbitrary: fc.constant("/github/app") },
    fc.webPath().map((way) => `/github/${way}`),
    fc.webPath().map((way) => `/${way}`),
  );
  const method = fc.oneof(
    { weight: 3, arbitrary: fc.constant("POST") },
    fc.constantFrom("GET", "PUT", "TRACE"),
  );
  const bytes = fc.oneof(fc.uint8Array({ maxLength: 2000 }), fc.constant(body));

  test("any headers with any body", () =>
    expectRejected(() =>
      fc.assert(
        fc.asyncProperty(path, method, known, bytes, async (at, how, headers, sent) => {
          const url = new URL(gateway.url).origin + at;
          const { status } = await ask(url, { method: how, headers, body: sent });
          expect(refused).toContain(status);
        }),
        { numRuns: 500 },
      ),
    ));

  test("any bytes on a socket", () =>
    expectRejected(() =>
      fc.assert(
        fc.asyncProperty(
          fc.array(
            fc.oneof(
              fc.uint8Array(),
              fc.constantFrom("POST /github/app HTTP/1.1\r\n", "\r\n", "host: a\r\n"),
            ),
          ),
          async (pieces) => {
            const line = await openLine(gateway.url);
            for (const piece of pieces) line.socket.write(piece);
            line.socket.end();
            for (const [, status] of (await line.closed).matchAll(/^HTTP\/1\.1 (\d+)/gm))
              expect(refused).toContain(Number(status));
          },
        ),
        { numRuns: 300 },
      ),
    ));
});

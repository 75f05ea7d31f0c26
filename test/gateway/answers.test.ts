/**
 * Requests that the gateway does not publish, with the full text of each answer: senders learn what to fix, and nothing else.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { LocalBus } from "../harness/localbus.ts";
import { example, hookOf, signatureOf } from "../harness/webhooks.ts";
import { lastSequence, openGateway, startWebhookBus, type TestGateway } from "./gateways.ts";
import { ask, headOf, openLine, type Question } from "./requests.ts";

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

/** GitHub's request with these headers replaced; undefined removes one. */
function but(headers: Readonly<Record<string, string | undefined>>): Question {
  const { body, headers: all } = push();
  const kept = Object.entries({ ...all, ...headers }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return { body, headers: Object.fromEntries(kept) };
}

/** A request with a valid signature. */
const signed = (body: string | Buffer, headers: Readonly<Record<string, string>> = {}): Question => ({
  body,
  headers: { ...push().headers, "x-hub-signature-256": signatureOf(body), ...headers },
});

const unsigned = "invalid signature in X-Hub-Signature-256: sign with the secret of this webhook";
const notFound = "not the address of a webhook";
const types = "expected application/json or application/x-www-form-urlencoded";
const noHeaders = "missing or invalid header X-GitHub-Event or X-GitHub-Delivery";
const tooLarge = "body too large: limit 25 MB";

/** Requests and their answers. `outcome` is the label of the metric. */
const rejections: readonly {
  readonly title: string;
  readonly at?: string;
  readonly request: Question;
  readonly status: number;
  readonly text: string;
  readonly outcome: string;
}[] = [
  ...["/", "/github", "/github/", "/github/app/more", "/githubb/app", "/Github/app", "//github/app"].map(
    (at) => ({
      title: `the path is ${at}`,
      at,
      request: push(),
      status: 404,
      text: notFound,
      outcome: "other not_found",
    }),
  ),
  ...["GET", "PUT", "DELETE", "OPTIONS", "PATCH"].map((method) => ({
    title: `the method is ${method}`,
    request: { method },
    status: 405,
    text: "expected POST",
    outcome: "other method",
  })),
  ...["text/plain", "application/jsonp", "multipart/form-data", "application/", "", undefined].map(
    (type) => ({
      title: `the content type is ${type}`,
      request: but({ "content-type": type }),
      status: 415,
      text: types,
      outcome: "other content_type",
    }),
  ),
  ...[
    undefined,
    "",
    "sha256=",
    "sha1=da39a3ee5e6b4b0d3255bfef95601890afd80709",
    `sha256=${"0".repeat(63)}`,
    `sha256=${"0".repeat(65)}`,
    `sha256=${"g".repeat(64)}`,
    `sha256=${"0".repeat(64)}, sha256=${"0".repeat(64)}`,
    "0".repeat(64),
    `sha256=${"0".repeat(64)}`,
  ].map((signature) => ({
    title: `the signature is ${signature}`,
    request: but({ "x-hub-signature-256": signature }),
    status: 401,
    text: unsigned,
    outcome: "other unsigned",
  })),
  {
    title: "another secret made the signature",
    request: hookOf("push", example("push"), undefined, "another secret"),
    status: 401,
    text: unsigned,
    outcome: "other unsigned",
  },
  {
    title: "the only signature is SHA-1",
    request: but({ "x-hub-signature-256": undefined, "x-hub-signature": signatureOf(push().body) }),
    status: 401,
    text: unsigned,
    outcome: "other unsigned",
  },
  {
    title: "the signature, the body, and other headers are all invalid",
    request: {
      body: "{",
      headers: { "content-type": "application/json", "x-hub-signature-256": signatureOf("") },
    },
    status: 401,
    text: unsigned,
    outcome: "other unsigned",
  },
  ...["nobody", "App", "app%2f", "..app", "constructor", "app.", "%61pp"].map((hook) => ({
    title: `the hook is ${hook}`,
    at: `/github/${hook}`,
    request: push(),
    status: 401,
    text: unsigned,
    outcome: "other unsigned",
  })),
  {
    title: "Content-Length exceeds the limit",
    request: signed("x".repeat(limit + 1)),
    status: 413,
    text: tooLarge,
    outcome: "other too_large",
  },
  {
    title: "the body is chunked",
    request: but({ "transfer-encoding": "chunked" }),
    status: 411,
    text: "missing header Content-Length",
    outcome: "other no_length",
  },
  ...["", "{", "{}{}", "\ufeff{}", "undefined"].map((body) => ({
    title: `the body is ${JSON.stringify(body)}, which is not JSON`,
    request: signed(body),
    status: 422,
    text: "body is not JSON",
    outcome: "push not_json",
  })),
  ...["", "payload", "payload=", "payload=%7B", "Payload={}", "{}"].map((body) => ({
    title: `the form ${JSON.stringify(body)} contains no JSON`,
    request: signed(body, { "content-type": "application/x-www-form-urlencoded" }),
    status: 422,
    text: "body is not JSON",
    outcome: "push not_json",
  })),
  ...["{}", "[]", "null", '"push"', "7"].map((body) => ({
    title: `the payload of a push is ${body}`,
    request: signed(body),
    status: 422,
    text: "not a payload of the event push",
    outcome: "push malformed",
  })),
  {
    title: "the header X-GitHub-Event is missing",
    request: but({ "x-github-event": undefined }),
    status: 400,
    text: noHeaders,
    outcome: "other headers",
  },
  ...[undefined, "", "a b", "a".repeat(101), "a/b", "a\u00e9"].map((delivery) => ({
    title: `the ID of the delivery is ${delivery}`,
    request: but({ "x-github-delivery": delivery }),
    status: 400,
    text: noHeaders,
    outcome: "other headers",
  })),
  {
    title: "the event is a ping",
    request: hookOf("ping", { zen: "Keep it logically awesome.", hook_id: 1 }),
    status: 200,
    text: "pong",
    outcome: "ping ping",
  },
  ...["star", "fork", "no_such_event", "Push", "constructor"].map((event) => ({
    title: `the event is ${event}, which the gateway does not support`,
    request: hookOf(event, { action: "created" }),
    status: 200,
    text: "event not supported",
    outcome: "other ignored",
  })),
];

describe("publishes nothing when", () => {
  test.each(rejections)("$title: $status", async ({ at, request, status, text, outcome }) => {
    const url = at === undefined ? gateway.hookUrl() : new URL(gateway.url).origin + at;
    const [before, counted] = [await lastSequence(local), await gateway.outcomes()];
    const answer = await ask(url, request);
    expect(answer).toMatchObject({ status, text });
    expect(answer.headers).toMatchObject({
      "content-type": "text/plain; charset=utf-8",
      "x-content-type-options": "nosniff",
    });
    expect(answer.headers.allow).toBe(status === 405 ? "POST" : undefined);
    expect(answer.headers).not.toHaveProperty("retry-after");
    const key = `${outcome} ${status}`;
    expect(await gateway.outcomes()).toEqual({ ...counted, [key]: (counted[key] ?? 0) + 1 });
    expect(await lastSequence(local)).toBe(before);
  });

  test("the sender disconnects, which metrics count as 400", async () => {
    const { headers, body } = push();
    const before = await lastSequence(local);
    const line = await openLine(gateway.url);
    line.socket.write(headOf(gateway.hookUrl(), { ...headers, "content-length": String(body.length) }));
    line.socket.write(body.slice(0, -1), () => line.socket.destroy());
    await expect
      .poll(async () => (await gateway.outcomes())["other broken_off 400"], { timeout: 60_000 })
      .toBe(1);
    expect(await lastSequence(local)).toBe(before);
  });
});

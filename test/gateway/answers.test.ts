/** Every answer to what does not go on the bus, with its whole text: those who ask learn what to mend, and no more. */
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

/** A request like GitHub's, but for some headers; undefined takes one away. */
function but(headers: Readonly<Record<string, string | undefined>>): Question {
  const { body, headers: all } = push();
  const wanted = Object.entries({ ...all, ...headers }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return { body, headers: Object.fromEntries(wanted) };
}

/** Something that is signed as it should be. */
const signed = (body: string | Buffer, headers: Readonly<Record<string, string>> = {}): Question => ({
  body,
  headers: { ...push().headers, "x-hub-signature-256": signatureOf(body), ...headers },
});

const unsigned = "invalid signature in X-Hub-Signature-256: sign with the secret of this webhook";
const notFound = "not the address of a webhook";
const types = "expected application/json or application/x-www-form-urlencoded";
const noHeaders = "missing or invalid header X-GitHub-Event or X-GitHub-Delivery";
const tooLarge = "body too large: limit 25 MB";

/** What is asked, and the answer. The outcome is as metrics count it. */
const refusals: readonly {
  readonly title: string;
  readonly at?: string;
  readonly asks: Question;
  readonly status: number;
  readonly says: string;
  readonly outcome: string;
}[] = [
  ...["/", "/github", "/github/", "/github/app/more", "/githubb/app", "/Github/app", "//github/app"].map(
    (at) => ({
      title: `there is nothing at ${at}`,
      at,
      asks: push(),
      status: 404,
      says: notFound,
      outcome: "other not_found",
    }),
  ),
  ...["GET", "PUT", "DELETE", "OPTIONS", "PATCH"].map((method) => ({
    title: `${method} is not POST`,
    asks: { method },
    status: 405,
    says: "expected POST",
    outcome: "other method",
  })),
  ...["text/plain", "application/jsonp", "multipart/form-data", "application/", "", undefined].map(
    (type) => ({
      title: `the content type ${type} is neither of GitHub's`,
      asks: but({ "content-type": type }),
      status: 415,
      says: types,
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
    title: `the signature ${signature} is none`,
    asks: but({ "x-hub-signature-256": signature }),
    status: 401,
    says: unsigned,
    outcome: "other unsigned",
  })),
  {
    title: "the signature is made with another secret",
    asks: hookOf("push", example("push"), undefined, "another secret"),
    status: 401,
    says: unsigned,
    outcome: "other unsigned",
  },
  {
    title: "the signature is the one of SHA-1 beside it, too",
    asks: but({ "x-hub-signature-256": undefined, "x-hub-signature": signatureOf(push().body) }),
    status: 401,
    says: unsigned,
    outcome: "other unsigned",
  },
  {
    title: "nothing else is right either, and none of it is told",
    asks: {
      body: "{",
      headers: { "content-type": "application/json", "x-hub-signature-256": signatureOf("") },
    },
    status: 401,
    says: unsigned,
    outcome: "other unsigned",
  },
  ...["nobody", "App", "app%2f", "..app", "constructor", "app.", "%61pp"].map((hook) => ({
    title: `there is no hook ${hook}`,
    at: `/github/${hook}`,
    asks: push(),
    status: 401,
    says: unsigned,
    outcome: "other unsigned",
  })),
  {
    title: "the body is announced as larger than it may be",
    asks: signed("x".repeat(limit + 1)),
    status: 413,
    says: tooLarge,
    outcome: "other too_large",
  },
  {
    title: "the length of the body is unknown",
    asks: but({ "transfer-encoding": "chunked" }),
    status: 411,
    says: "missing header Content-Length",
    outcome: "other no_length",
  },
  ...["", "{", "{}{}", "\ufeff{}", "undefined"].map((body) => ({
    title: `${JSON.stringify(body)} is not JSON`,
    asks: signed(body),
    status: 422,
    says: "body is not JSON",
    outcome: "push not_json",
  })),
  ...["", "payload", "payload=", "payload=%7B", "Payload={}", "{}"].map((body) => ({
    title: `the form ${JSON.stringify(body)} has no JSON`,
    asks: signed(body, { "content-type": "application/x-www-form-urlencoded" }),
    status: 422,
    says: "body is not JSON",
    outcome: "push not_json",
  })),
  ...["{}", "[]", "null", '"push"', "7"].map((body) => ({
    title: `${body} is no push`,
    asks: signed(body),
    status: 422,
    says: "not a payload of the event push",
    outcome: "push malformed",
  })),
  {
    title: "the event has no name",
    asks: but({ "x-github-event": undefined }),
    status: 400,
    says: noHeaders,
    outcome: "other headers",
  },
  ...[undefined, "", "a b", "a".repeat(101), "a/b", "a\u00e9"].map((delivery) => ({
    title: `${delivery} is no id of a delivery`,
    asks: but({ "x-github-delivery": delivery }),
    status: 400,
    says: noHeaders,
    outcome: "other headers",
  })),
  {
    title: "a ping is answered",
    asks: hookOf("ping", { zen: "Keep it logically awesome.", hook_id: 1 }),
    status: 200,
    says: "pong",
    outcome: "ping ping",
  },
  ...["star", "fork", "no_such_event", "Push", "constructor"].map((event) => ({
    title: `the event ${event} is dropped`,
    asks: hookOf(event, { action: "created" }),
    status: 200,
    says: "event not supported",
    outcome: "other ignored",
  })),
];

describe("nothing goes on the bus when", () => {
  test.each(refusals)("$title: $status", async ({ at, asks, status, says, outcome }) => {
    const url = at === undefined ? gateway.hookUrl() : new URL(gateway.url).origin + at;
    const [before, counted] = [await lastSequence(local), await gateway.outcomes()];
    const answer = await ask(url, asks);
    expect(answer).toMatchObject({ status, text: says });
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

  test("the sender breaks off: 400 in metrics, for nobody hears it", async () => {
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

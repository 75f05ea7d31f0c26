/** Rejections before or during the body: the sender always receives the answer. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { LocalBus } from "../harness/localbus.ts";
import { example, hookOf, signatureOf } from "../harness/webhooks.ts";
import { openGateway, startWebhookBus, type TestGateway } from "./gateways.ts";
import { headOf, openLine, pour } from "./requests.ts";

const MiB = 2 ** 20;
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

const { headers } = hookOf("push", example("push"));
const length = (bytes: number) => ({ "content-length": String(bytes) });
const without = (name: string) => Object.fromEntries(Object.entries(headers).filter(([key]) => key !== name));

type Rejection = readonly [
  why: string,
  at: string,
  headers: Record<string, string>,
  status: number,
  text: string,
];

const unsigned = "invalid signature in X-Hub-Signature-256: sign with the secret of this webhook";
const tooLarge = "body too large: limit 25 MB";

/** The gateway knows all rejections but the last one from the headers alone. */
const rejections: readonly Rejection[] = [
  ["the signature is missing", "/github/app", without("x-hub-signature-256"), 401, unsigned],
  ["the path is unknown", "/", headers, 404, "not the address of a webhook"],
  [
    "the content type is not supported",
    "/github/app",
    { ...headers, "content-type": "text/plain" },
    415,
    "expected application/json or application/x-www-form-urlencoded",
  ],
  [
    "the signature is wrong",
    "/github/app",
    { ...headers, "x-hub-signature-256": signatureOf("") },
    401,
    unsigned,
  ],
];

const early: readonly Rejection[] = [
  ...rejections.slice(0, 3),
  ["Content-Length exceeds the limit", "/github/app", { ...headers, ...length(25 * MiB + 1) }, 413, tooLarge],
];

test.each(early)("answers before the body arrives when %s", async (_why, at, own, status, text) => {
  const url = new URL(at, gateway.url).href;
  const line = await openLine(url);
  line.socket.write(headOf(url, { ...length(25 * MiB), ...own }));
  const answer = new RegExp(`^HTTP/1.1 ${status} .*connection: close\r\n.*\r\n\r\n${text}\n$`, "is");
  await expect.poll(line.heard, { timeout: 60_000 }).toMatch(answer);
  line.socket.destroy();
});

/** Sends headers and body before it reads anything, as many clients do. Returns the response. */
async function sendAll(url: string, own: Record<string, string>, parts: readonly (string | number)[]) {
  const line = await openLine(url);
  line.socket.pause();
  line.socket.write(headOf(url, { ...own, connection: "close" }));
  for (const part of parts) {
    if (typeof part === "number") await pour(line, part);
    else line.socket.write(part);
  }
  line.socket.resume();
  return line.closed;
}

describe("clients that read only after sending the body receive the answer when", () => {
  test.each(rejections)("%s", async (_why, at, own, status, text) => {
    const url = new URL(at, gateway.url).href;
    for (let round = 0; round < 3; round++) {
      const heard = await sendAll(url, { ...own, ...length(4 * MiB) }, [4 * MiB]);
      expect(heard).toContain(`HTTP/1.1 ${status} `);
      expect(heard).toContain(`\r\n\r\n${text}\n`);
    }
  });

  test("Content-Length exceeds the limit", async () => {
    for (let round = 0; round < 2; round++) {
      const heard = await sendAll(gateway.hookUrl(), { ...headers, ...length(32 * MiB) }, [32 * MiB]);
      expect(heard).toContain("HTTP/1.1 413 ");
      expect(heard).toContain(`\r\n\r\n${tooLarge}\n`);
    }
  });

  test("the body is chunked", async () => {
    const chunked = { ...headers, "transfer-encoding": "chunked" };
    const parts = [`${(32 * MiB).toString(16)}\r\n`, 32 * MiB, "\r\n0\r\n\r\n"];
    const heard = await sendAll(gateway.hookUrl(), chunked, parts);
    expect(heard).toContain("HTTP/1.1 411 ");
    expect(heard).toContain("\r\n\r\nmissing header Content-Length\n");
  });
});

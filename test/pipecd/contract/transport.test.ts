/** Responses of grpc-go v1.79.3, which v0.57.0 uses, to invalid gRPC requests, before authentication. */
import { connect, type OutgoingHttpHeaders } from "node:http2";
import { beforeAll, expect, test } from "vitest";
import { framed } from "../../../deploy/simulators/pipecd/frames.ts";
import { openEnvironment } from "./environment.ts";
import { target } from "./target.ts";

const environment = openEnvironment(() => target("C"));
const path = "/grpc.service.webservice.WebService/ListPipeds";
const empty = framed(new Uint8Array());

let address: string;
beforeAll(() => {
  address = environment.target.addresses.web;
});

interface Answered {
  readonly http: number;
  readonly code: number;
  readonly message: string;
}

const request = (headers: OutgoingHttpHeaders, body: Buffer | undefined): Promise<Answered> =>
  new Promise((resolve, reject) => {
    const session = connect(`http://${address}`);
    session.on("error", reject);
    const base = { ":method": "POST", ":path": path, "content-type": "application/grpc", te: "trailers" };
    const stream = session.request({ ...base, ...headers });
    const found: Record<string, unknown> = {};
    stream.on("response", (some) => Object.assign(found, some));
    stream.on("trailers", (some) => Object.assign(found, some));
    stream.on("error", () => undefined);
    stream.on("close", () => {
      session.destroy();
      const { ":status": http, "grpc-status": code, "grpc-message": message } = found;
      resolve({ http: Number(http), code: Number(code), message: String(message) });
    });
    stream.resume().end(body);
  });

const prefix = (bytes: number, flag = 0) => {
  const head = Buffer.alloc(5, flag);
  head.writeUInt32BE(bytes, 1);
  return head;
};
const ok = { http: 200, code: 0, message: "" };
const stranger = { http: 200, code: 16, message: "Unauthenticated" };

test.each<[string, OutgoingHttpHeaders, Buffer | undefined, Answered]>([
  ["a call", {}, empty, stranger],
  ["a subtype of the content", { "content-type": "application/grpc+proto" }, empty, stranger],
  ["two messages, of which the second is ignored", {}, Buffer.concat([empty, empty]), stranger],
  ["no message", {}, undefined, { http: 200, code: 2, message: "EOF" }],
  ["a truncated message", {}, prefix(9), { http: 200, code: 2, message: "unexpected EOF" }],
  [
    "a message of 5 MiB",
    {},
    prefix(5 * 1024 * 1024),
    { http: 200, code: 8, message: "grpc: received message larger than max (5242880 vs. 4194304)" },
  ],
  [
    "a compressed message without an encoding",
    {},
    prefix(0, 1),
    { http: 200, code: 13, message: "grpc: compressed flag set with identity or empty encoding" },
  ],
  [
    "an unsupported encoding",
    { "grpc-encoding": "gzip" },
    empty,
    { http: 200, code: 12, message: 'grpc: Decompressor is not installed for grpc-encoding "gzip"' },
  ],
  [
    "other content",
    { "content-type": "application/json" },
    empty,
    { http: 415, code: 3, message: 'invalid gRPC request content-type "application/json"' },
  ],
  [
    "GET",
    { ":method": "GET" },
    undefined,
    {
      http: 405,
      code: 13,
      message: 'Received a HEADERS frame with :method "GET" which should be POST',
    },
  ],
])("%s", async (_, headers, body, expected) => {
  expect(await request(headers, body)).toEqual(expected);
});

test("reports success in the trailers", async () => {
  const [name = "", value = ""] = environment.admin()[0] ?? [];
  expect(await request({ [name]: value }, empty)).toEqual(ok);
});

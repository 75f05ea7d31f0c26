/**
 * A process that sends signed deliveries with minimal work, because it shares two cores with the measured processes. A request is a
 * prepared buffer in which only the delivery's ID changes; the signature covers only the body.
 */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { examplesByEvent, hookOf } from "../../harness/webhooks.ts";
import type { Made, Order } from "./order.ts";

/** Example payloads from GitHub's documentation, unchanged: those of 7 to 8 KB. */
const event = "push";
const size = { least: 7000, most: 8000 };

process.on("message", (order: Order) => {
  void make(order).then((made) => process.send?.(made));
});
process.once("disconnect", () => process.exit());

async function make({ url, deliveries, connections: count }: Order): Promise<Made> {
  const ids = newIds();
  const statuses: Record<string, number> = {};
  const millis: number[] = [];
  const connections = await Promise.all(Array.from({ length: count }, () => open(new URL(url), ids.first)));
  let left = deliveries;
  const begun = performance.now();
  await Promise.all(
    connections.map(async ({ socket, requests, answer }) => {
      for (let at = 0; left > 0; at++) {
        left--;
        const { bytes, idAt } = requests[at % requests.length] as Request;
        bytes.write(ids.next(), idAt, "latin1");
        const sent = performance.now();
        socket.write(bytes);
        const status = await answer();
        millis.push(performance.now() - sent);
        statuses[status] = (statuses[status] ?? 0) + 1;
      }
      socket.destroy();
    }),
  );
  return { seconds: (performance.now() - begun) / 1000, statuses, millis };
}

async function open(url: URL, id: string) {
  const socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true });
  await once(socket, "connect");
  return { socket, requests: requestsTo(url, id), answer: answersOf(socket) };
}

/** Distinct GUIDs. */
function newIds() {
  const start = randomUUID().slice(0, 24);
  let made = 0;
  const next = (): string => start + (made++).toString(16).padStart(12, "0");
  return { first: next(), next };
}

/** A request with a placeholder for the ID. */
interface Request {
  readonly bytes: Buffer;
  readonly idAt: number;
}

/** The request buffers of one connection, which must not be modified while they are being sent. */
function requestsTo({ host, pathname }: URL, id: string): Request[] {
  const hooks = examplesByEvent.get(event)?.map((payload) => hookOf(event, payload, id)) ?? [];
  return hooks
    .map((hook) => ({ ...hook, bytes: Buffer.byteLength(hook.body) }))
    .filter(({ bytes }) => bytes >= size.least && bytes <= size.most)
    .map(({ body, headers, bytes: length }) => {
      const all = { host, accept: "*/*", ...headers, "content-length": length };
      const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
      const bytes = Buffer.from(`POST ${pathname} HTTP/1.1\r\n${lines.join("")}\r\n${body}`);
      return { bytes, idAt: bytes.indexOf(id) };
    });
}

/** Each call resolves with the status of the next response, once it is complete. */
function answersOf(socket: Socket): () => Promise<string> {
  let text = "";
  let waiting = Promise.withResolvers<string>();
  socket.on("data", (chunk) => {
    text += chunk.toString("latin1");
    if (!isWhole(text)) return;
    waiting.resolve(text.slice(9, 12));
    text = "";
  });
  socket.once("close", () => waiting.reject(new Error("the connection was closed")));
  return () => {
    waiting = Promise.withResolvers();
    return waiting.promise;
  };
}

/** A response to one request, with its length or in chunks. */
function isWhole(text: string): boolean {
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) return false;
  const length = /\r\ncontent-length: *(\d+)/i.exec(text.slice(0, end + 2))?.[1];
  return length === undefined ? text.endsWith("\r\n0\r\n\r\n") : text.length >= end + 4 + Number(length);
}

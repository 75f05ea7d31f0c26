/** An HTTP client for well-formed requests, and raw connections for everything else. */
import { once } from "node:events";
import { type Agent, type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from "node:http";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";

export interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** A request. Without an agent, each one opens its own connection. */
export interface Question {
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Uint8Array;
  readonly agent?: Agent;
}

/** Sends a request and returns the response. */
export async function ask(
  url: string,
  { method = "POST", headers = {}, body = "", agent }: Question = {},
): Promise<Answered> {
  const asking = request(url, { method, headers, agent: agent ?? false });
  asking.end(body);
  const [answer] = await once(asking, "response");
  return { status: answer.statusCode, headers: answer.headers, text: (await text(answer)).trim() };
}

/** A raw connection. */
export interface Line {
  readonly socket: Socket;
  /** Everything received so far. */
  heard(): string;
  /** Resolves with everything received when the connection is closed or reset. */
  readonly closed: Promise<string>;
}

/** Connects to the host and port of a URL. */
export async function openLine(url: string): Promise<Line> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  let heard = "";
  socket.setEncoding("latin1").on("data", (chunk: string) => {
    heard += chunk;
  });
  socket.on("error", () => undefined);
  const closed = new Promise<string>((resolve) => socket.once("close", () => resolve(heard)));
  await once(socket, "connect");
  return { socket, heard: () => heard, closed };
}

/** Request line and headers of a POST. */
export function headOf(url: string, headers: Readonly<Record<string, string>>): string {
  const { pathname, host } = new URL(url);
  const lines = Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${pathname} HTTP/1.1\r\n${lines.join("")}\r\n`;
}

/** Writes this many bytes with backpressure. Returns early if the gateway closes the connection. */
export async function pour({ socket, closed }: Line, bytes: number): Promise<void> {
  const piece = Buffer.alloc(65_536, "x");
  for (let written = 0; written < bytes && socket.writable; written += piece.length) {
    const next = piece.subarray(0, bytes - written);
    if (!socket.write(next)) await Promise.race([once(socket, "drain").catch(() => undefined), closed]);
  }
}

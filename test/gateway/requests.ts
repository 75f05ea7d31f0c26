/** Requests as anybody may make them: well-behaved ones, and bytes on a socket. */
import { once } from "node:events";
import { type Agent, type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from "node:http";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";

/** An answer. */
export interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** A request; every one has a connection of its own unless there is an agent. */
export interface Question {
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Uint8Array;
  readonly agent?: Agent;
}

/** Asks, and resolves with the answer. */
export async function ask(
  url: string,
  { method = "POST", headers = {}, body = "", agent }: Question = {},
): Promise<Answered> {
  const asking = request(url, { method, headers, agent: agent ?? false });
  asking.end(body);
  const [answer] = await once(asking, "response");
  return { status: answer.statusCode, headers: answer.headers, text: (await text(answer)).trim() };
}

/** A connection on which a test writes what it likes. */
export interface Line {
  readonly socket: Socket;
  /** What has come so far. */
  heard(): string;
  /** Resolves with all that came when the gateway has closed the connection, however it did. */
  readonly closed: Promise<string>;
}

/** Opens a connection to where a URL points. */
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

/** The head of a request with these headers. */
export function headOf(url: string, headers: Readonly<Record<string, string>>): string {
  const { pathname, host } = new URL(url);
  const lines = Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${pathname} HTTP/1.1\r\n${lines.join("")}\r\n`;
}

/** Writes this many bytes as fast as they are taken, and ends early when the gateway closes the connection. */
export async function pour({ socket, closed }: Line, bytes: number): Promise<void> {
  const piece = Buffer.alloc(65_536, "x");
  for (let written = 0; written < bytes && socket.writable; written += piece.length) {
    const wanted = piece.subarray(0, bytes - written);
    if (!socket.write(wanted)) await Promise.race([once(socket, "drain").catch(() => undefined), closed]);
  }
}

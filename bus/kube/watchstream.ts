/** The body of a watch: one JSON event per line. https://kubernetes.io/docs/reference/using-api/api-concepts/ */
import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { ApiError, type StatusBody } from "./errors.ts";
import { isPathSegment, isVersion, type KubeObject, type Stored } from "./object.ts";

/** What a watch tells. A bookmark's object has nothing but a resourceVersion. */
export interface WatchEvent<T extends KubeObject = KubeObject> {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK";
  readonly object: Stored<T>;
}

/** A line of a watch is no event of it. The watch is opened again where the last good one was. */
export class WatchDecodeError extends Error {
  override readonly name = "WatchDecodeError";
}

/** Far above what an API server stores; a line that never ends must not take all the memory. Characters. */
const maxLine = 64 * 2 ** 20;
const changes: readonly unknown[] = ["ADDED", "MODIFIED", "DELETED"];

/**
 * The events in a watch's body. Throws an {@link ApiError} that arrives as an event, and {@link WatchDecodeError} at the
 * first line that is none.
 */
export async function* watchEvents<T extends KubeObject>(
  stream: Readable,
  path: string,
): AsyncGenerator<WatchEvent<T>> {
  // A stream that is left early reports that it was aborted, to nobody.
  stream.on("error", () => undefined);
  for await (const line of lines(stream, path)) yield eventIn<T>(line, path);
}

function eventIn<T extends KubeObject>(line: string, path: string): WatchEvent<T> {
  let event: unknown;
  try {
    event = JSON.parse(line);
  } catch (error) {
    throw new WatchDecodeError(`the watch of ${path} has a line that is no JSON: ${shown(line)}`, {
      cause: error,
    });
  }
  const { type, object } = isRecord(event) ? event : {};
  if (type === "ERROR") throw new ApiError(`watch of ${path}`, ...statusIn(object));
  const metadata = isRecord(object) && isRecord(object.metadata) ? object.metadata : {};
  const { name, namespace, uid, resourceVersion } = metadata;
  const known =
    isVersion(resourceVersion) &&
    (type === "BOOKMARK" ||
      (changes.includes(type) &&
        isPathSegment(name) &&
        (namespace === undefined || isPathSegment(namespace)) &&
        typeof uid === "string"));
  if (!known) throw new WatchDecodeError(`the watch of ${path} has a line that is no event: ${shown(line)}`);
  return event as WatchEvent<T>;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;
const shown = (line: string): string => JSON.stringify(line.slice(0, 200));

/** What an error says, as far as it says it: without a code it is the server's fault. */
function statusIn(object: unknown): [status: number, body: StatusBody] {
  const { code, message, reason, details } = isRecord(object) ? object : {};
  const seconds = isRecord(details) ? details.retryAfterSeconds : undefined;
  const body: StatusBody = {
    ...(typeof message === "string" && { message }),
    ...(typeof reason === "string" && { reason }),
    ...(typeof seconds === "number" && { details: { retryAfterSeconds: seconds } }),
  };
  return [typeof code === "number" && Number.isInteger(code) ? code : 500, body];
}

/** The lines of a stream; an unfinished last line is dropped, because its event comes again. */
async function* lines(stream: Readable, path: string): AsyncGenerator<string> {
  const decoder = new StringDecoder("utf8");
  // A long line arrives in many pieces: each is looked through once.
  let pieces: string[] = [];
  let length = 0;
  for await (const chunk of stream) {
    const parts = decoder.write(chunk as Buffer).split("\n");
    for (const [at, part] of parts.entries()) {
      pieces.push(part);
      length += part.length;
      if (at < parts.length - 1) {
        const line = pieces.join("");
        pieces = [];
        length = 0;
        if (line !== "") yield line;
      } else if (length > maxLine) {
        throw new WatchDecodeError(`the watch of ${path} has a line of more than ${maxLine} characters`);
      }
    }
  }
}

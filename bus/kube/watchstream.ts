/** The body of a watch: one JSON event per line. https://kubernetes.io/docs/reference/using-api/api-concepts/ */
import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { ApiError, type StatusBody } from "./errors.ts";
import { isPathSegment, isVersion, type KubeObject, type Stored } from "./object.ts";

/** An event of a watch. A bookmark's object has only a resourceVersion. */
export interface WatchEvent<T extends KubeObject = KubeObject> {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK";
  readonly object: Stored<T>;
}

/** A line of a watch is not an event. The watch is reopened after the last valid one. */
export class WatchDecodeError extends Error {
  override readonly name = "WatchDecodeError";
}

/** Far above the size that an API server stores; an endless line must not use all memory. Characters. */
const maxLine = 64 * 2 ** 20;
const changes: readonly unknown[] = ["ADDED", "MODIFIED", "DELETED"];

/**
 * Parses the events in a watch's body. Throws an {@link ApiError} that arrives as an event, and {@link WatchDecodeError} at the
 * first invalid line.
 */
export async function* watchEvents<T extends KubeObject>(
  stream: Readable,
  path: string,
): AsyncGenerator<WatchEvent<T>> {
  // A stream that is left early emits an abort error.
  stream.on("error", () => undefined);
  const lines = new Lines(path);
  // One asynchronous step per chunk, which may have many lines.
  for await (const chunk of stream) {
    for (const line of lines.endedBy(chunk as Buffer)) yield eventIn<T>(line, path);
  }
}

function eventIn<T extends KubeObject>(line: string, path: string): WatchEvent<T> {
  let event: unknown;
  try {
    event = JSON.parse(line);
  } catch (error) {
    throw new WatchDecodeError(`the watch of ${path} has a line that is not JSON: ${shown(line)}`, {
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
  if (!known)
    throw new WatchDecodeError(`the watch of ${path} has a line that is not an event: ${shown(line)}`);
  return event as WatchEvent<T>;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;
const shown = (line: string): string => JSON.stringify(line.slice(0, 200));

/** The fields of an error. Without a code it counts as a server error. */
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

/** Splits chunks into lines. An unfinished last line is dropped, because its event is sent again. */
class Lines {
  readonly #path: string;
  readonly #decoder = new StringDecoder("utf8");
  /** A long line arrives in many pieces: scan each piece once. */
  #pieces: string[] = [];
  #length = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** The lines that end in this chunk, without empty ones. */
  *endedBy(chunk: Buffer): Generator<string> {
    const text = this.#decoder.write(chunk);
    let from = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", from)) {
      const line = this.#pieces.join("") + text.slice(from, end);
      this.#pieces = [];
      this.#length = 0;
      from = end + 1;
      if (line !== "") yield line;
    }
    this.#pieces.push(text.slice(from));
    this.#length += text.length - from;
    if (this.#length > maxLine)
      throw new WatchDecodeError(`the watch of ${this.#path} has a line of more than ${maxLine} characters`);
  }
}

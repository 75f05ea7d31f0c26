/** Sends the lines of several logs in batches, because a busy log has thousands of them per second. */
import { setImmediate } from "node:timers/promises";
import type { LogEnd, LogProblem, StreamedLine } from "../../api/log.ts";
import type { EventStream, StreamedEvent } from "../eventstream.ts";
import { type LogPosition, type PositionedLine, positionText } from "./loglines.ts";

/** Limits of a batch. */
const maxLines = 500;
const maxChars = 256 * 1024;

/** An event between lines. */
interface OtherEvent {
  readonly event: "end" | "problem";
  readonly data: LogEnd | LogProblem;
}

interface QueuedLine {
  readonly line: StreamedLine;
  readonly position: LogPosition | undefined;
}

/** Everything that waits to be sent, in order. */
export class LogQueue {
  readonly #stream: Pick<EventStream, "send">;
  /** The position of the last line sent of each log; empty before the first one. */
  readonly #sent: string[];
  readonly #waiting: (QueuedLine | OtherEvent)[] = [];
  #chars = 0;
  #sending: Promise<void> | undefined;
  #batch = Promise.withResolvers<void>();

  /** Takes the position of each log. */
  constructor(stream: Pick<EventStream, "send">, positions: readonly (LogPosition | undefined)[]) {
    this.#stream = stream;
    this.#sent = positions.map((position) => (position === undefined ? "" : positionText(position)));
  }

  /** Adds a line. Resolves when there is room for the next one, so that lines do not pile up for a slow reader. */
  async line(of: number, { at, text, isCut, position }: PositionedLine): Promise<void> {
    this.#chars += text.length;
    this.#add({ line: { of, ...(at !== undefined && { at }), text, isCut }, position });
    while (this.#chars > maxChars) await this.#batch.promise;
  }

  /** Adds an event after the lines. */
  event(event: OtherEvent["event"], data: OtherEvent["data"]): void {
    this.#add({ event, data });
  }

  /** Resolves when everything is sent. */
  async drained(): Promise<void> {
    await this.#sending;
  }

  #add(entry: QueuedLine | OtherEvent): void {
    this.#waiting.push(entry);
    this.#sending ??= this.#send();
  }

  async #send(): Promise<void> {
    // Lines that are read from the same chunk travel together.
    await setImmediate();
    while (this.#waiting.length > 0) {
      await this.#stream.send(this.#take());
      this.#batch.resolve();
      this.#batch = Promise.withResolvers();
    }
    this.#sending = undefined;
  }

  /** Removes the next event. */
  #take(): StreamedEvent {
    const [first] = this.#waiting;
    if (first !== undefined && "event" in first) {
      this.#waiting.shift();
      return { ...first, id: this.#id() };
    }
    const lines: StreamedLine[] = [];
    let chars = 0;
    for (const entry of this.#waiting) {
      if ("event" in entry || lines.length === maxLines || chars > maxChars) break;
      lines.push(entry.line);
      chars += entry.line.text.length;
      if (entry.position !== undefined) this.#sent[entry.line.of] = positionText(entry.position);
    }
    this.#waiting.splice(0, lines.length);
    this.#chars -= chars;
    return { event: "lines", data: { lines }, id: this.#id() };
  }

  #id(): string {
    return this.#sent.join(",");
  }
}

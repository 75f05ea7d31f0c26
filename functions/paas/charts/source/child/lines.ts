/**
 * Blocking reads and writes of lines on file descriptors. Streams would create sockets in this process, through which a chart could
 * reach the network.
 */
import { readSync, writeSync } from "node:fs";

const newline = 10;

/** Reads lines on demand until the input ends. */
export function* readLines(fd: number): Generator<string> {
  let rest = Buffer.alloc(0);
  const chunk = Buffer.alloc(65_536);
  for (;;) {
    const at = rest.indexOf(newline);
    if (at >= 0) {
      yield rest.toString("utf8", 0, at);
      rest = rest.subarray(at + 1);
      continue;
    }
    const count = readSync(fd, chunk);
    if (count === 0) return;
    rest = Buffer.concat([rest, chunk.subarray(0, count)]);
  }
}

/** Prints to standard error. Drops text that is not read fast enough, because the descriptor is non-blocking. */
export function printText(text: string): void {
  try {
    writeText(2, text);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EAGAIN")) throw error;
  }
}

export const writeLine = (fd: number, text: string): void => writeText(fd, `${text}\n`);

function writeText(fd: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let written = 0; written < bytes.length; ) written += writeSync(fd, bytes, written);
}

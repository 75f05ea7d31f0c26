import { Readable } from "node:stream";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ApiError } from "./errors.ts";
import { WatchDecodeError, type WatchEvent, watchEvents } from "./watchstream.ts";

const text = fc.string({ unit: "grapheme", maxLength: 20 });
const event = fc.oneof(
  fc.record({
    type: fc.constantFrom("ADDED", "MODIFIED", "DELETED"),
    object: fc.record({
      apiVersion: fc.constant("v1"),
      kind: fc.constant("Note"),
      metadata: fc.record({
        name: fc.constantFrom("a", "system:b", "c.d"),
        namespace: fc.constant("default"),
        uid: fc.uuid(),
        resourceVersion: fc.nat().map(String),
      }),
      spec: fc.record({ text }),
    }),
  }),
  fc.record({
    type: fc.constant("BOOKMARK"),
    object: fc.record({ metadata: fc.record({ resourceVersion: fc.nat().map(String) }) }),
  }),
);

/** Cuts bytes into chunks at these lengths. */
function chunks(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return at.slice(1).map((end, i) => bytes.subarray(at[i], end));
}

/** The events in the body of a watch, and how it ends. */
async function read(parts: readonly Buffer[]): Promise<{ events: WatchEvent[]; error?: Error }> {
  const events: WatchEvent[] = [];
  try {
    for await (const each of watchEvents(Readable.from(parts), "/notes")) events.push(each);
    return { events };
  } catch (error) {
    return { events, error: error as Error };
  }
}
const readLines = (...lines: string[]) => read([Buffer.from(lines.map((line) => `${line}\n`).join(""))]);

const noted = (metadata: object, type = "ADDED"): string =>
  JSON.stringify({ type, object: { kind: "Note", metadata } });
const good = noted({ name: "a", namespace: "default", uid: "u", resourceVersion: "1" });

test("watch - parses events, however their bytes are cut", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(event, { maxLength: 6 }),
      fc.array(fc.nat(), { maxLength: 12 }),
      async (sent, cuts) => {
        const body = sent.map((each) => `${JSON.stringify(each)}\n`).join("");
        expect(await read(chunks(Buffer.from(body), cuts))).toEqual({ events: sent });
      },
    ),
  );
});

test("watch - joins a multi-byte character that two chunks share", async () => {
  const sent = JSON.parse(good.replace('"u"', '"伝令🎵"')) as WatchEvent;
  const bytes = Buffer.from(`${JSON.stringify(sent)}\n`);
  const parts = Array.from(bytes, (byte) => Buffer.from([byte]));
  expect(await read(parts)).toEqual({ events: [sent] });
});

test("watch - ignores an unfinished last line", async () => {
  expect((await read([Buffer.from(`${good}\n${good}`)])).events).toHaveLength(1);
});

test("watch - ends with an error at an invalid line, after the valid events before it", async () => {
  const bad = fc.oneof(
    fc.json(),
    fc.stringMatching(/^[^\n]{1,20}$/).filter((line) => line.trim() !== ""),
    fc.constantFrom(
      "null",
      "{}",
      '{"type":"ADDED"}',
      '{"type":"ADDED","object":null}',
      '{"type":"BOOKMARK","object":{"metadata":{}}}',
      '{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":7}}}',
      noted({ name: "a", uid: "u", resourceVersion: "abc" }),
      noted({ name: "..", uid: "u", resourceVersion: "1" }),
      noted({ name: "a/b", uid: "u", resourceVersion: "1" }),
      noted({ uid: "u", resourceVersion: "1" }),
      noted({ name: "a", resourceVersion: "1" }),
      noted({ name: "a", uid: "u", resourceVersion: "1" }, "CHANGED"),
    ),
  );
  await fc.assert(
    fc.asyncProperty(bad, async (line) => {
      const { events, error } = await readLines(good, line, good);
      expect(events).toEqual([JSON.parse(good)]);
      expect(error).toBeInstanceOf(WatchDecodeError);
    }),
  );
});

test("watch - converts any ERROR event to an ApiError with a status", async () => {
  expect((await readLines('{"type":"ERROR","object":{"code":410,"reason":"Expired"}}')).error).toMatchObject({
    status: 410,
    reason: "Expired",
  });
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.jsonValue(), fc.record({ code: fc.jsonValue() })), async (object) => {
      const { error } = await readLines(JSON.stringify({ type: "ERROR", object }));
      expect(error).toBeInstanceOf(ApiError);
      expect(Number.isInteger((error as ApiError).status)).toBe(true);
    }),
  );
});

test("watch - reads a long line in many chunks, and gives up on an endless one", async () => {
  const long = JSON.parse(good) as { object: { spec?: unknown } };
  long.object.spec = "x".repeat(20_000_000);
  const bytes = Buffer.from(`${JSON.stringify(long)}\n`);
  const pieces = Array.from({ length: Math.ceil(bytes.length / 16_384) }, (_, at) =>
    bytes.subarray(at * 16_384, (at + 1) * 16_384),
  );
  expect((await read(pieces)).events).toHaveLength(1);
  const mebibyte = Buffer.alloc(2 ** 20, "x");
  const { error } = await read(Array.from({ length: 70 }, () => mebibyte));
  expect(error).toBeInstanceOf(WatchDecodeError);
  expect(error?.message).toMatch(/more than/);
});

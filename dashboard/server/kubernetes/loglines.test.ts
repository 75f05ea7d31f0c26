/** Parsing log lines, and continuing after one of them. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type LogLine, linesAfter, logLines, maxLineBytes, parsePosition, positionText } from "./loglines.ts";

async function* chunks(bytes: Uint8Array, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  for (let from = 0, at = 0; from < bytes.length; at++) {
    const size = sizes[at % sizes.length] ?? 1;
    yield bytes.subarray(from, from + size);
    from += size;
  }
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

const read = (text: string, sizes: readonly number[] = [7]) =>
  all(logLines(chunks(Buffer.from(text), sizes)));

describe("lines", () => {
  test("are the same for any chunk sizes and any content", async () => {
    const text = fc.string({ unit: "binary" }).map((any) => any.toWellFormed().replaceAll("\n", "\r"));
    const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 });
    await fc.assert(
      fc.asyncProperty(fc.array(text), sizes, async (texts, cuts) => {
        const lines = texts.map((one) => `2026-01-02T03:04:05.6Z ${one}\n`);
        expect(await read(lines.join(""), cuts)).toEqual(
          texts.map((one) => ({
            at: "2026-01-02T03:04:05.600000000Z",
            text: one,
            isCut: false,
            isWhole: true,
          })),
        );
      }),
    );
  });

  test("have their time in UTC with nanoseconds, for any time zone of the kubelet", async () => {
    const lines = await read(
      "2026-01-02T03:04:05Z a\n2026-01-02T03:04:05.123456789+09:00 b\n2026-01-02T03:04:05.1Z\nno time\n",
    );
    expect(lines.map(({ at, text }) => [at, text])).toEqual([
      ["2026-01-02T03:04:05.000000000Z", "a"],
      ["2026-01-01T18:04:05.123456789Z", "b"],
      ["2026-01-02T03:04:05.100000000Z", ""],
      [undefined, "no time"],
    ]);
  });

  test("are cut between characters if too long, and marked as incomplete if the stream ends within them", async () => {
    const time = "2026-01-02T03:04:05.000000000Z ";
    const [cut, next, rest] = await read(
      `${time}${"é".repeat(maxLineBytes)}\n${time}next\n${time}re`,
      [1000],
    );
    expect(cut).toMatchObject({ isCut: true, isWhole: true });
    expect(cut?.text).toMatch(/^é+$/);
    expect(Buffer.byteLength(time + cut?.text)).toBeGreaterThanOrEqual(maxLineBytes - 1);
    expect(Buffer.byteLength(time + cut?.text)).toBeLessThanOrEqual(maxLineBytes);
    expect(next).toMatchObject({ text: "next", isCut: false });
    expect(rest).toMatchObject({ text: "re", isWhole: false });
  });
});

const at = (millis: number) => `${new Date(Date.UTC(2026, 0, 2) + millis).toISOString().slice(0, -1)}000000Z`;
const line = (millis: number, text: number): LogLine => ({
  at: at(millis),
  text: String(text),
  isCut: false,
  isWhole: true,
});

async function* each<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

describe("continuing after a line", () => {
  test("yields each line once, even if many have the same time and some are late", async () => {
    // Time advances, and a line may be written up to half a second late.
    const steps = fc.array(fc.tuple(fc.constantFrom(0, 0, 0, 200, 900), fc.constantFrom(0, 0, 100, 500)), {
      minLength: 1,
      maxLength: 40,
    });
    await fc.assert(
      fc.asyncProperty(steps, fc.nat(), async (moves, cutAt) => {
        let now = 10_000;
        const lines = moves.map(([on, late], index) => {
          now += on;
          return line(now - late, index);
        });
        const cut = cutAt % lines.length;
        const before = await all(linesAfter(each(lines), undefined));
        const position = before[cut]?.position;
        const since = Math.floor((Date.parse(position?.at ?? "") - Date.UTC(2026, 0, 2)) / 1000) - 1;
        const answered = lines.filter((one) => (one.at ?? "") >= at(since * 1000));
        const behind = await all(linesAfter(each(answered), position));
        expect(behind.map(({ text }) => text)).toEqual(lines.slice(cut + 1).map(({ text }) => text));
        // Positions stay the same, so that it can be continued again.
        expect(behind.map((one) => one.position)).toEqual(before.slice(cut + 1).map((one) => one.position));
      }),
      { numRuns: 1000 },
    );
  });

  test("yields the later lines if the line no longer exists", async () => {
    const lines = [line(0, 1), line(5000, 2), line(5000, 3)];
    const behind = await all(linesAfter(each(lines), { at: at(1000), count: 4 }));
    expect(behind.map(({ text }) => text)).toEqual(["2", "3"]);
  });

  test("a position is parsed from its own text, and from no other", () => {
    const position = { at: at(1), count: 3 };
    expect(parsePosition(positionText(position))).toEqual(position);
    for (const text of [
      undefined,
      "",
      "1",
      "2026-01-02T03:04:05Z/1",
      `${at(1)}/0`,
      `${at(1)}/1 `,
      `${at(1)}`,
    ])
      expect(parsePosition(text)).toBeUndefined();
  });
});

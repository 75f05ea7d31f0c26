/** Attributes have the formats that the SDK of CloudEvents requires. */
import { CloudEvent } from "cloudevents";
import fc from "fast-check";
import { expect, test } from "vitest";
import { misformedAttributes } from "./attributes.ts";

const eventWith = (attributes: { readonly source?: string; readonly time?: string }) => ({
  specversion: "1.0",
  id: "1",
  type: "t",
  source: "/a",
  time: "2026-01-02T03:04:05.678Z",
  ...attributes,
});

/** What the SDK thinks of an event. */
function isValid(event: ReturnType<typeof eventWith>): boolean {
  try {
    return new CloudEvent(event).validate();
  } catch {
    return false;
  }
}

const number = (most: number) => fc.nat(most).map((value) => String(value).padStart(2, "0"));
const time = fc
  .tuple(
    number(13),
    number(32),
    number(25),
    number(61),
    number(61),
    fc.constantFrom("Z", ".5Z", "", "+01:00"),
  )
  .map(([month, day, hour, minute, second, end]) => `2026-${month}-${day}T${hour}:${minute}:${second}${end}`);
const source = fc.oneof(
  fc.webUrl({ withQueryParameters: true, withFragments: true }),
  fc.stringMatching(/^(https?:\/\/)?[a-z0-9.:-]{0,12}(\/[\w.~% -]{0,5}){0,3}$/),
  fc.string({ minLength: 1 }),
);

test("attributes - agrees with the SDK on every source and time", () => {
  fc.assert(
    fc.property(source.filter(Boolean), time, (source, time) => {
      for (const event of [eventWith({ source }), eventWith({ time })])
        expect(misformedAttributes(event).length === 0).toBe(isValid(event));
    }),
    { numRuns: 2000 },
  );
});

test("attributes - agrees with the SDK on every day of a year and of a leap year", () => {
  const outcomes = new Set<boolean>();
  for (const year of [2026, 2028])
    for (let month = 0; month <= 13; month++)
      for (let day = 0; day <= 32; day++) {
        const two = (value: number): string => String(value).padStart(2, "0");
        const event = eventWith({ time: `${year}-${two(month)}-${two(day)}T00:00:00Z` });
        const expected = isValid(event);
        expect([event.time, misformedAttributes(event).length === 0]).toEqual([event.time, expected]);
        outcomes.add(expected);
      }
  expect(outcomes.size).toBe(2);
});

test("attributes - names the attributes without their format", () => {
  expect(misformedAttributes(eventWith({ source: "a b", time: "yesterday" }))).toEqual(
    expect.arrayContaining(["source"]),
  );
  expect(misformedAttributes(eventWith({ time: "2026-02-30T00:00:00Z" }))).toEqual(["time"]);
});

import { CloudEvent } from "cloudevents";
import fc from "fast-check";
import { expect, test } from "vitest";
import { MalformedPayloadError } from "../malformed.ts";
import { type WebhookEventName, webhookEventNames } from "./payloads.ts";
import {
  convert,
  exampleOf,
  examplesOf,
  githubEvent,
  now,
  type Path,
  pathsIn,
  readBack,
} from "./published.ts";

const messageOf = (event: WebhookEventName, payload: unknown): string => {
  try {
    convert(event, payload);
  } catch (error) {
    expect(error).toBeInstanceOf(MalformedPayloadError);
    return (error as Error).message;
  }
  throw new Error("expected a MalformedPayloadError, found an event");
};

test("malformed - names every invalid field with the expected and the found type", () => {
  const example = exampleOf("pull_request");
  const wrong = {
    ...example,
    number: "7",
    repository: undefined,
    installation: [],
    pull_request: { ...example.pull_request, user: 5, labels: [{ name: "a" }, { name: null }] },
  };
  expect(messageOf("pull_request", wrong)).toBe(
    "the payload does not fit the webhook pull_request: repository: expected object, found nothing; " +
      "installation: expected object, found array; number: expected number, found string; " +
      "pull_request.user: expected object, found number; " +
      "pull_request.labels.1.name: expected string, found null. " +
      "Compare the delivery under Advanced, Recent Deliveries in the settings of the GitHub App.",
  );
  expect(messageOf("push", "text")).toContain("push: payload: expected object, found string.");
});

test("malformed - names a field of several forms with each of them", () => {
  const push = exampleOf("push");
  push.repository.owner = {};
  expect(messageOf("push", push)).toContain(
    "repository.owner.login: expected string, found nothing; repository.owner.name: expected string, found nothing.",
  );
  const payload = exampleOf("installation");
  payload.installation.updated_at = {};
  payload.installation.app_id = JSON.parse("1e999");
  expect(messageOf("installation", payload)).toContain(
    "installation.app_id: expected number, found infinity; " +
      "installation.updated_at: expected number, found object; installation.updated_at: expected string, found object.",
  );
});

test.each([
  ["yesterday", "installation.updated_at: expected the format of the attribute time, found other text"],
  ["2026-02-30T00:00:00Z", "installation.updated_at: expected the format of the attribute time"],
  [1e15, "installation.updated_at: expected the format of the attribute time"],
  [9e11, "installation.updated_at: expected the format of the attribute time"],
  ["", "installation.updated_at: expected text without control characters, found other text or none"],
])("malformed - %j is no time", (time, problem) => {
  const payload = exampleOf("installation");
  payload.installation.updated_at = time;
  expect(messageOf("installation", payload)).toContain(problem);
});

test("malformed - rejects text that no attribute can hold instead of replacing it", () => {
  const text = "expected text without control characters";
  const push = exampleOf("push");
  expect(messageOf("push", { ...push, ref: "" })).toContain(`ref: ${text}`);
  expect(messageOf("push", { ...push, ref: "a\nb" })).toContain(`ref: ${text}`);
  expect(messageOf("push", { ...push, ref: "a\ud800" })).toContain(`ref: ${text}`);
  expect(messageOf("delete", { ...push, ref_type: "" })).toContain(`ref_type: ${text}`);
  push.repository.name = "";
  expect(messageOf("push", push)).toContain(`repository.name: ${text}`);
  push.repository = { ...exampleOf("push").repository, url: "not a URI" };
  expect(messageOf("push", push)).toContain("repository.url: expected the format of the attribute source");
  const payload = exampleOf("push");
  expect(() => githubEvent({ event: "push", delivery: "", payload, now })).toThrow(MalformedPayloadError);
});

const numbers = [8675309, -8675309.5, 8675309e300, Number.POSITIVE_INFINITY];
/** JSON with recognizable values: non-empty texts start with a mark, numbers contain one. */
const marked = fc.jsonValue().map((json): unknown =>
  JSON.parse(JSON.stringify(json), (_key, value) => {
    if (typeof value === "number") return numbers[Math.abs(Math.trunc(value)) % numbers.length];
    return typeof value === "string" && value !== "" ? `s3cr3t${value}` : value;
  }),
);

function replaced(root: unknown, path: Path, value: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined || typeof root !== "object" || root === null) return value;
  const inner = replaced((root as Record<string, unknown>)[step], rest, value);
  return Array.isArray(root) ? Object.assign([...root], { [step]: inner }) : { ...root, [step]: inner };
}

/** An example in which some of the fields that are read have other JSON, or are missing. */
const nearly = fc
  .tuple(
    fc.constantFrom(...webhookEventNames),
    fc.nat(),
    fc.array(fc.tuple(fc.nat(), fc.nat(), fc.option(marked))),
  )
  .map(([name, which, changes]) => {
    const example = examplesOf(name)[which % examplesOf(name).length];
    const paths = pathsIn(convert(name, example).event.data);
    const payload = changes.reduce<unknown>((before, [at, up, value]) => {
      const path = paths[at % paths.length] as Path;
      return replaced(before, path.slice(0, path.length - (up % path.length)), value ?? undefined);
    }, example);
    return [name, payload] as const;
  });

test("malformed - converts any JSON to an event, or throws an error that shows none of its values", () => {
  const outcomes = new Set<string>();
  fc.assert(
    fc.property(
      fc.oneof(nearly, fc.tuple(fc.constantFrom(...webhookEventNames), marked)),
      ([name, payload]) => {
        try {
          const { event } = convert(name, payload);
          const validated = new CloudEvent(event);
          expect(JSON.stringify(readBack(event))).toBe(JSON.stringify(validated));
          outcomes.add("event");
        } catch (error) {
          expect(error).toBeInstanceOf(MalformedPayloadError);
          expect((error as Error).message).toMatch(new RegExp(`the webhook ${name}: \\S+: expected`));
          expect((error as Error).message).not.toMatch(/s3cr3t|86753/);
          expect((error as Error).cause).toBeUndefined();
          outcomes.add("error");
        }
      },
    ),
    { numRuns: 3000 },
  );
  expect([...outcomes].sort()).toEqual(["error", "event"]);
});

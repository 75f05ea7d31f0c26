/** Rows of the contract: a call and its outcome, with the recorded messages. */
import { type DescMessage, type JsonValue, type MessageShape, toJson } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { ok as success } from "../../../deploy/simulators/pipecd/status.ts";

/** Outcome of a call, with the response of a successful one. */
export interface Reply<Output extends DescMessage> {
  readonly code: number;
  readonly message: string;
  readonly schema: Output;
  readonly answer: MessageShape<Output> | undefined;
}

/** Expected outcome of a row. */
export interface Expected {
  readonly code: number;
  readonly message: string;
  /** Response as JSON, or the picked part of it; not compared if undefined. */
  readonly shows?: unknown;
}

/** Expects success. Ids, times, keys, and hashes in the response are masked before the comparison. */
export const ok = (shows?: unknown): Expected => ({ code: success, message: "", shows });

/** Expects a failure; `<uuid>` in the message matches any UUID. */
export const fails = (code: number, message: string): Expected => ({ code, message });

/** Options of a row. */
export interface RowOptions<Output extends DescMessage> {
  /** Selects the part of the response to compare. */
  readonly pick?: (answer: MessageShape<Output>) => unknown;
  /** Saves values for later rows. */
  readonly keep?: (answer: MessageShape<Output>) => void;
}

/** Suffix of all names in a run; masked in comparisons. */
export const tag = `-${Math.random().toString(36).slice(2, 10)}`;

/** Names of projects in rows, by their names in the target. */
export const projectNames = new Map<string, string>();

/** Defines a test of the call. Rows of a group run in order, and later ones depend on earlier ones. */
export function row<Output extends DescMessage>(
  name: string,
  call: () => Promise<Reply<Output>>,
  expected: Expected,
  { pick, keep }: RowOptions<Output> = {},
): void {
  test(name, async () => {
    const { code, message, schema, answer } = await call();
    expect({ code, message: masked(message) }).toEqual({ code: expected.code, message: expected.message });
    if (answer === undefined) return;
    if (expected.shows !== undefined) {
      const seen = pick === undefined ? toJson(schema, answer, { useProtoFieldName: true }) : pick(answer);
      expect(masked(seen)).toEqual(expected.shows);
    }
    keep?.(answer);
  });
}

const uuid = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
const masks: readonly (readonly [RegExp, string])[] = [
  [new RegExp(`^${uuid}\\.[a-z0-9]{32}$`), "<uuid>.<32 chars>"],
  [/^[a-z0-9]{50}$/, "<50 chars [a-z0-9]>"],
  [/^\$2a\$10\$[./A-Za-z0-9]{53}$/, "<FULL BCRYPT HASH>"],
  [new RegExp(uuid, "g"), "<uuid>"],
  // protobuf-go writes a no-break space here in half of all builds, so that callers do not compare messages.
  [/(?<=\bproto:)\u00a0/g, " "],
];

/** Replaces values that differ between runs. */
export function masked(value: unknown, key = ""): unknown {
  if (Array.isArray(value)) return value.map((one) => masked(one));
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, masked(one, name)]));
  }
  if (typeof value !== "string") return value;
  if (key.startsWith("project")) return projectNames.get(value) ?? value;
  if (key.endsWith("_at") && /^\d+$/.test(value)) return "<unix>";
  return masks.reduce((text, [pattern, mask]) => text.replace(pattern, mask), value.replaceAll(tag, ""));
}

/** Sorts lists that are ordered by random ids. */
export const sorted = <T extends JsonValue>(values: readonly T[]): T[] =>
  values.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));

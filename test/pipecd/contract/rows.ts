/** Rows of the contract: a call, and how it ends, in the words of the recording. */
import { type DescMessage, type JsonValue, type MessageShape, toJson } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { ok as success } from "../../../deploy/simulators/pipecd/status.ts";

/** How a call ended, with its answer if it was a success. */
export interface Reply<Output extends DescMessage> {
  readonly code: number;
  readonly message: string;
  readonly schema: Output;
  readonly answer: MessageShape<Output> | undefined;
}

/** What a row expects. */
export interface Expected {
  readonly code: number;
  readonly message: string;
  /** The answer as JSON, or what was picked of it; nothing is compared when it is undefined. */
  readonly shows?: unknown;
}

/** A success. Ids, times, keys and hashes of the answer are masked before it is compared. */
export const ok = (shows?: unknown): Expected => ({ code: success, message: "", shows });

/** A failure; `<uuid>` in the message stands for any. */
export const fails = (code: number, message: string): Expected => ({ code, message });

/** What else a row does with an answer. */
export interface RowOptions<Output extends DescMessage> {
  /** What is compared, instead of all of it. */
  readonly pick?: (answer: MessageShape<Output>) => unknown;
  /** Takes what later rows need. */
  readonly keep?: (answer: MessageShape<Output>) => void;
}

/** Comes behind the names that a run makes, and is masked. */
export const tag = `-${Math.random().toString(36).slice(2, 10)}`;

/** What projects are called in rows, by their names in the target. */
export const projectNames = new Map<string, string>();

/** A test that makes the call. Rows of a group run one after another, and later ones need what earlier ones made. */
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
  // In half of all builds, protobuf-go writes a no-break space here to keep callers from comparing messages.
  [/(?<=\bproto:)\u00a0/g, " "],
];

/** The same with what differs from run to run replaced. */
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

/** Sorted, for lists whose order is that of random ids. */
export const sorted = <T extends JsonValue>(values: readonly T[]): T[] =>
  values.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));

/** Random changes of a document: deleted, empty, or doubled fields, and values that parsers treat specially. */
import fc from "fast-check";
import { nastyPieces, oddPieces } from "./pieces.ts";

/** A changed document. */
export interface Change<T> {
  readonly spec: T;
  /** Description of the change. */
  readonly what: string;
}

type Path = readonly string[];

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

const pathsIn = (value: unknown, path: Path = []): Path[] => [
  ...(path.length > 0 ? [path] : []),
  ...(isObject(value) ? Object.entries(value).flatMap(([key, part]) => pathsIn(part, [...path, key])) : []),
];

const texts = ["", "x", "http://", "://", "%zz", "/", "..", "YQ", "0s", "-1s", ...nastyPieces, ...oddPieces];
const numbers = [0, -1, 1, 1.5, 2 ** 31, 2 ** 53, 9_000_000_000, 9_000_000_001, "0s", "1ns", "9000000000s"];

/** Other values, usually of the same type. */
function others(value: unknown): readonly unknown[] {
  if (typeof value === "string") return texts;
  if (typeof value === "number") return numbers;
  if (typeof value === "boolean") return [!value];
  return Array.isArray(value) ? [[], [...value, ...value]] : [{}];
}

/** Changes one or two fields of a document. */
export const changed = <T extends object>(original: T): fc.Arbitrary<Change<T>> =>
  fc
    .array(fc.tuple(fc.constantFrom(...pathsIn(original)), fc.nat(5), fc.nat()), {
      minLength: 1,
      maxLength: 2,
    })
    .map((edits) => {
      const spec = structuredClone(original);
      const done = edits.map(([path, way, which]) => edit(spec, path, way, which));
      return { spec, what: done.join("; ") };
    });

function edit(spec: object, path: Path, way: number, which: number): string {
  const name = path.at(-1) ?? "";
  let holder: unknown = spec;
  for (const key of path.slice(0, -1)) holder = isObject(holder) ? holder[key] : undefined;
  if (!isObject(holder) || !(name in holder)) return `${path.join(".")} was deleted before`;
  if (way === 0) {
    if (Array.isArray(holder)) holder.splice(Number(name), 1);
    else delete holder[name];
    return `${path.join(".")} is deleted`;
  }
  const values = others(holder[name]);
  holder[name] = values[which % values.length];
  return `${path.join(".")} is ${JSON.stringify(holder[name])}`;
}

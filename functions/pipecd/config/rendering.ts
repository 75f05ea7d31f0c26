/** Helpers that render fields of PipeCD's configuration. */
import { nanosIn } from "../kinds/goduration.ts";
import type { Duration } from "../kinds.ts";

/** One variant of a union that has one optional field per variant. */
export type Variant<Union, Rest extends keyof Union = never> = {
  [Name in Exclude<keyof Union, Rest>]-?: {
    readonly type: Name;
    readonly config: NonNullable<Union[Name]>;
  };
}[Exclude<keyof Union, Rest>];

/** The variant that is set. `rest` are the other fields of the object. Throws a `TypeError` unless exactly one is set. */
export function variantOf<Union extends object, const Rest extends keyof Union & string = never>(
  union: Union,
  ...rest: readonly Rest[]
): Variant<Union, Rest> {
  const given = Object.entries(union).filter(
    ([name, value]) => value !== undefined && !(rest as readonly string[]).includes(name),
  );
  const [variant] = given;
  if (variant === undefined || given.length > 1) {
    throw new TypeError(
      `expected exactly one variant, found ${given.map(([name]) => name).join(", ") || "none"}`,
    );
  }
  return { type: variant[0], config: variant[1] } as Variant<Union, Rest>;
}

/** The fields without those that are undefined or empty strings, in the same order. */
export const given = <T extends object>(fields: T): Partial<T> =>
  Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== ""),
  ) as Partial<T>;

/** Like {@link given}, but undefined if no field is left. */
export function someGiven<T extends object>(fields: T): Partial<T> | undefined {
  const some = given(fields);
  return Object.keys(some).length > 0 ? some : undefined;
}

/** A map sorted by key, so that the order in the spec does not change the output. */
export const sorted = (map: Readonly<Record<string, string>> | undefined) =>
  map === undefined
    ? undefined
    : Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));

/**
 * A duration in Go's format; undefined for zero and for less than a nanosecond. Numbers are seconds and get a unit, because Go would
 * read them as nanoseconds.
 */
export function durationOf(duration: Duration | undefined): string | undefined {
  if (duration === undefined) return undefined;
  if (typeof duration === "number") return duration === 0 ? undefined : `${duration}s`;
  return nanosIn(duration) === 0n ? undefined : duration;
}

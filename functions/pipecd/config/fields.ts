/** How fields of PipeCD's configuration are made and written. */
import { nanosIn } from "../kinds/goduration.ts";
import type { Duration } from "../kinds.ts";

/** One variant of a union that an object has as one optional field each. */
export type Variant<Union, Rest extends keyof Union = never> = {
  [Name in Exclude<keyof Union, Rest>]-?: {
    readonly type: Name;
    readonly config: NonNullable<Union[Name]>;
  };
}[Exclude<keyof Union, Rest>];

/** The variant that is given; `rest` are fields that are none. Throws a `TypeError` for what does not fit the schema. */
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

/** Fields that are given, in this order: what is undefined or empty text is left out. */
export const given = <T extends object>(fields: T): Partial<T> =>
  Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== ""),
  ) as Partial<T>;

/** The same, undefined where nothing is given. */
export function someGiven<T extends object>(fields: T): Partial<T> | undefined {
  const some = given(fields);
  return Object.keys(some).length > 0 ? some : undefined;
}

/** A map in an order of its own. */
export const sorted = (map: Readonly<Record<string, string>> | undefined) =>
  map === undefined
    ? undefined
    : Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));

/**
 * A length of time as Go reads it; undefined for none, and for less than a nanosecond. Numbers are seconds: Go would take them
 * for nanoseconds.
 */
export function durationOf(duration: Duration | undefined): string | undefined {
  if (duration === undefined) return undefined;
  if (typeof duration === "number") return duration === 0 ? undefined : `${duration}s`;
  return nanosIn(duration) === 0n ? undefined : duration;
}

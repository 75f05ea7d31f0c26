/** The name of an enumeration value; undefined for a value that a later version has added. */
export const nameOf = <T extends string>(values: Readonly<Record<T, number>>, value: number): T | undefined =>
  (Object.keys(values) as T[]).find((name) => values[name] === value);

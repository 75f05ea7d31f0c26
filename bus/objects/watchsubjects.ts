/** Subjects of watch records in INDEXES: `watched.<function>.<cluster>.<ordinal>`, and the object's address as in OBJECTS. */
import type { ObjectAddress, QueueScope } from "../subjects.ts";
import { token } from "../values/token.ts";

export const watched = {
  /** The record of one object. `ordinal` numbers the filtered watches of its kind. */
  record: ({ fn, cluster }: QueueScope, at: ObjectAddress, ordinal: number) =>
    [
      "watched",
      ...[fn, cluster, String(ordinal), at.group, at.kind, at.namespace, at.owner, at.name].map(token),
    ].join("."),
  /** All records of a function. */
  all: ({ fn, cluster }: QueueScope) => `watched.${token(fn)}.${token(cluster)}.>`,
  /** The subject in OBJECTS of a record's object. Throws a `RangeError` on any other subject. */
  objectOf(subject: string): string {
    const parts = subject.split(".");
    if (parts.length !== 9 || parts[0] !== "watched")
      throw new RangeError(`expected watched.<function>.<cluster>.<ordinal>.<address>, found "${subject}"`);
    return ["objects", parts[2], ...parts.slice(4)].join(".");
  },
} as const;

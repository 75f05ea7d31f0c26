/** What a form for a new object checks. */
import { z } from "zod";
import type { Kind } from "../../../../../bus/kube/kind.ts";
import { newMetadata } from "./metadata.ts";

// Schemas say of what is missing which type it has to be. That is not what somebody asks who has left a field empty.
z.config({ customError: ({ input }) => (input === undefined ? "expected something here" : undefined) });

/** The schema of a new object of one of our kinds: the one that its CRD is made of. Throws a `TypeError` for a kind of others. */
export function newObject({ kind, definition }: Kind, longestName: number): z.ZodType {
  if (definition === undefined) throw new TypeError(`expected a kind of this project, found ${kind}`);
  return z.object({ metadata: newMetadata(longestName), spec: definition.spec });
}

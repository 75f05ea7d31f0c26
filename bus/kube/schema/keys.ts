/** Keys of records. Structural schemas cannot describe keys, so a CEL rule checks them. */
import { rulesKey } from "./metadata.ts";
import type { Json, Place } from "./place.ts";

/** Longer patterns exceed the API server's cost limit for a rule, because it assumes keys of unlimited length. Characters. */
const longestPatterns = 60;
/** The same limit for all rules of a kind's spec, or of its status. */
const longestInTotal = 200;

interface KeySchema {
  readonly type?: string;
  readonly pattern?: string;
  readonly allOf?: readonly { readonly pattern?: string; readonly not?: { readonly pattern: string } }[];
  readonly minLength?: number;
  readonly maxLength?: number;
}

/** The rule for keys of this schema; empty if any key is valid. */
export function keyRules(keys: Json, place: Place): Json {
  const { type, pattern, allOf = [], minLength = 0, maxLength, ...others } = keys as KeySchema;
  if (type !== "string" || Object.keys(others).some((key) => key !== "description")) {
    place.refuse(
      "keys of a record can only be z.string() with lengths and regexes: instead of an enum, use z.object() with optional fields",
    );
    return {};
  }
  const patterns = [
    ...(pattern !== undefined ? [{ text: pattern, not: "" }] : []),
    ...allOf.map((one) =>
      one.not ? { text: one.not.pattern, not: "!" } : { text: one.pattern ?? "", not: "" },
    ),
  ];
  const conditions = [
    ...(minLength > 0 ? [`size(key) >= ${minLength}`] : []),
    ...(maxLength !== undefined ? [`size(key) <= ${maxLength}`] : []),
    ...patterns.map(({ text, not }) => `${not}key.matches(${JSON.stringify(text)})`),
  ];
  if (conditions.length === 0) return {};
  const length = patterns.reduce((sum, { text }) => sum + text.length, 0);
  place.spent.keyPatterns += length;
  if (place.isRepeated)
    place.refuse(
      "a rule for keys costs too much in an array or a record: use z.string() for the keys, and check them in the function",
    );
  else if (length > longestPatterns || place.spent.keyPatterns > longestInTotal)
    place.refuse(
      `a rule for keys with patterns of ${length} characters costs too much (limit: ${longestPatterns}, and ${longestInTotal} in all records): use a shorter regex, or z.string()`,
    );
  const message = `keys must satisfy: ${conditions.join(", ").replaceAll("key.matches", "matches")}`;
  return { [rulesKey]: [{ rule: `self.all(key, ${conditions.join(" && ")})`, message }] };
}

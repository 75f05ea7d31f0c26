/**
 * Matches objects against partial expectations:
 *
 * - an object matches when each named field does; other fields are ignored;
 * - a list matches when each expected element matches a different element, in any order; `[]` is an empty or missing list;
 * - `null` is a missing or null field; any other value must be equal;
 * - `$absent: true` is a missing value, `$exactly: <value>` an equal value without extra fields, and `$matches: <regular
 *   expression>` text that contains a match.
 */
import { isDeepStrictEqual } from "node:util";
import { ownValue } from "denrei/values";

/** An expectation, as parsed from YAML. */
export type Expectation = unknown;

type Fields = Readonly<Record<string, unknown>>;
const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const shown = (value: unknown): string => {
  const text = value === undefined ? "nothing" : JSON.stringify(value);
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
};

const operators: Readonly<Record<string, (expected: unknown, found: unknown) => string | undefined>> = {
  $absent: (_, found) => (found === undefined ? undefined : "nothing"),
  $exactly: (expected, found) =>
    isDeepStrictEqual(expected, found) ? undefined : `exactly ${shown(expected)}`,
  $matches: (expected, found) =>
    typeof found === "string" && new RegExp(String(expected), "u").test(found)
      ? undefined
      : `text that matches /${expected}/`,
};

/** Operator and operand, if the expectation is an operation. */
function operation(expected: unknown): readonly [name: string, operand: unknown] | undefined {
  if (!isFields(expected)) return undefined;
  const entries = Object.entries(expected);
  return entries.length === 1 && entries[0]?.[0].startsWith("$") ? entries[0] : undefined;
}

/** Whether an object is expected to be missing. */
export const isAbsence = (expected: Expectation): boolean => operation(expected)?.[0] === "$absent";

/** Mistakes in an expectation itself, one line each: an unknown operator, or an invalid operand. */
export function mistakes(expected: Expectation, path = ""): string[] {
  if (Array.isArray(expected)) return expected.flatMap((one, at) => mistakes(one, `${path}[${at}]`));
  if (!isFields(expected)) return [];
  const [name, operand] = operation(expected) ?? [];
  if (name === "$exactly") return [];
  if (name === "$absent" && operand !== true)
    return [`${path}: expected $absent: true, found ${shown(operand)}`];
  if (name === "$matches" && !isRegularExpression(operand))
    return [`${path}: expected a regular expression after $matches, found ${shown(operand)}`];
  if (name !== undefined && name in operators) return [];
  return Object.entries(expected).flatMap(([field, one]) =>
    field.startsWith("$")
      ? [`${path}: expected one of ${Object.keys(operators).join(", ")}, alone in its place, found ${field}`]
      : mistakes(one, `${path}.${field}`),
  );
}

function isRegularExpression(text: unknown): boolean {
  try {
    return typeof text === "string" && Boolean(new RegExp(text, "u"));
  } catch {
    return false;
  }
}

/** The differences of a value from its expectation, one line per field; empty when it matches. */
export function differences(expected: Expectation, found: unknown, path = ""): string[] {
  const differs = (what: string) => [`${path || "."}: expected ${what}, found ${shown(found)}`];
  const [name, operand] = operation(expected) ?? [];
  if (name !== undefined) {
    const what = operators[name]?.(operand, found);
    return what === undefined ? [] : differs(what);
  }
  if (expected === null) return found === undefined || found === null ? [] : differs("nothing");
  if (Array.isArray(expected)) return listDifferences(expected, found, path);
  if (isFields(expected)) {
    // A missing object has no fields, which may be the expectation.
    if (found !== undefined && !isFields(found)) return differs("an object");
    if (found === undefined && Object.keys(expected).length === 0) return differs("an object");
    return Object.entries(expected).flatMap(([field, one]) =>
      differences(one, ownValue(found, field), `${path}.${field}`),
    );
  }
  return expected === found ? [] : differs(shown(expected));
}

/** Whether a value meets its expectation. */
export const matches = (expected: Expectation, found: unknown): boolean =>
  differences(expected, found).length === 0;

function listDifferences(expected: readonly unknown[], found: unknown, path: string): string[] {
  const elements = found ?? [];
  if (!Array.isArray(elements)) return [`${path}: expected a list, found ${shown(found)}`];
  if (expected.length === 0)
    return elements.length === 0 ? [] : [`${path}: expected no elements, found ${shown(found)}`];
  const left = unassigned(expected, elements);
  return left.flatMap((at) => {
    const one = expected[at];
    const like = elements.find((element) => isSame(one, element));
    return like === undefined || matches(one, like)
      ? [`${path}[${at}]: expected an element of its own like ${shown(one)}, found ${shown(elements)}`]
      : differences(one, like, `${path}[${identityOf(one)?.join("=")}]`);
  });
}

/** The field that identifies an element of a list, if there is one, as in containers, ports, conditions, and variables. */
function identityOf(element: unknown): readonly [field: string, value: unknown] | undefined {
  if (!isFields(element)) return undefined;
  const field = ["name", "type", "key"].find((one) => typeof element[one] === "string");
  return field === undefined ? undefined : [field, element[field]];
}

function isSame(expected: unknown, element: unknown): boolean {
  const [field, value] = identityOf(expected) ?? [];
  return field !== undefined && isFields(element) && element[field] === value;
}

/** Indexes of expected elements without a counterpart in a maximum matching (augmenting paths). */
function unassigned(expected: readonly unknown[], elements: readonly unknown[]): number[] {
  const owner = new Map<number, number>();
  const candidates = expected.map((one) =>
    elements.flatMap((element, at) => (matches(one, element) ? [at] : [])),
  );
  function assign(at: number, tried: Set<number>): boolean {
    for (const element of candidates[at] ?? []) {
      if (tried.has(element)) continue;
      tried.add(element);
      const before = owner.get(element);
      if (before !== undefined && !assign(before, tried)) continue;
      owner.set(element, at);
      return true;
    }
    return false;
  }
  return [...expected.keys()].filter((at) => !assign(at, new Set()));
}

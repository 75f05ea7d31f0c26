/** Validation rules for requests, with the messages of https://github.com/bufbuild/protoc-gen-validate */
import type { DescField, DescMessage, Message } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import { invalidArgument, RpcError } from "./status.ts";

/** The rule of a field. */
export type Rule = "not empty" | "given" | "defined" | "a relative path" | "one or more" | MapRule;

/** The rule of a map's entries. */
type MapRule = "filled entries" | "trailers";

/** Rules by full message name, then by field. They are checked in the order of the message's fields. */
export type Rules = Readonly<Record<string, Readonly<Record<string, Rule>>>>;

/** Throws the first violation as an `RpcError`. */
export function validate(rules: Rules, schema: DescMessage, message: Message): void {
  const problem = problemOf(rules, schema, message);
  if (problem !== undefined) throw new RpcError(invalidArgument, `invalid request: ${problem}`);
}

/** The message of the first violation; undefined if the message is valid. */
export function problemOf(rules: Rules, schema: DescMessage, message: Message): string | undefined {
  const fields = rules[schema.typeName] ?? {};
  const reflected = reflect(schema, message);
  for (const field of schema.fields) {
    const rule = fields[field.name];
    const value: unknown = reflected.get(field);
    const entry = rule === undefined ? undefined : brokenEntry(rule, field, value);
    if (entry !== undefined)
      return `invalid ${nameOf(schema)}.${camel(field.name)}[${entry.key}]: ${entry.reason}`;
    const reason = rule === undefined ? undefined : brokenBy(rule, field, value, reflected.isSet(field));
    if (reason !== undefined) return `invalid ${nameOf(schema)}.${camel(field.name)}: ${reason}`;
    const cause = reflected.isSet(field) ? causeIn(rules, field, value) : undefined;
    if (cause !== undefined) {
      const { path, text } = cause;
      return `invalid ${nameOf(schema)}.${camel(field.name)}${path}: embedded message failed validation | caused by: ${text}`;
    }
  }
  return undefined;
}

/** The first violation in an embedded message; `path` is the index in a list. */
function causeIn(rules: Rules, field: DescField, value: unknown): { path: string; text: string } | undefined {
  if (field.fieldKind === "message") {
    const text = problemOf(rules, field.message, messageOf(value));
    return text === undefined ? undefined : { path: "", text };
  }
  if (field.fieldKind !== "list" || field.listKind !== "message") return undefined;
  let index = 0;
  for (const item of value as Iterable<unknown>) {
    const text = problemOf(rules, field.message, messageOf(item));
    if (text !== undefined) return { path: `[${index}]`, text };
    index++;
  }
  return undefined;
}

const messageOf = (reflected: unknown): Message => (reflected as { readonly message: Message }).message;

const empty = "value length must be at least 1 runes";
const trailer = /^[a-zA-Z0-9]+(-[a-zA-Z0-9]+)*$/;

/** The first entry of a map, in key order, that violates the rule. */
function brokenEntry(
  rule: Rule,
  field: DescField,
  map: unknown,
): { key: string; reason: string } | undefined {
  if (field.fieldKind !== "map") return undefined;
  const entries = [...(map as Iterable<[string, string]>)].sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [key, value] of entries) {
    if (key === "") return { key, reason: empty };
    if (rule === "trailers" && !trailer.test(key))
      return { key, reason: `value does not match regex pattern "${trailer.source}"` };
    if (value === "") return { key, reason: empty };
  }
  return undefined;
}

function brokenBy(rule: Rule, field: DescField, value: unknown, isSet: boolean): string | undefined {
  switch (rule) {
    case "not empty":
      return value === "" ? empty : undefined;
    case "given":
      return isSet ? undefined : "value is required";
    case "defined":
      return field.fieldKind === "enum" && field.enum.value[Number(value)] === undefined
        ? "value must be one of the defined enum values"
        : undefined;
    case "a relative path":
      return /^[^/].+$/u.test(String(value)) ? undefined : 'value does not match regex pattern "^[^/].+$"';
    case "filled entries":
    case "trailers":
      return undefined;
    case "one or more":
      return isSet ? undefined : "value must contain at least 1 item(s)";
  }
}

/** The Go name of a message; nested messages are prefixed with their parent's name. */
function nameOf(schema: DescMessage): string {
  return schema.parent === undefined ? schema.name : `${nameOf(schema.parent)}_${schema.name}`;
}

/** The Go name of a field. */
const camel = (name: string): string =>
  name.replace(/(?:^|_)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

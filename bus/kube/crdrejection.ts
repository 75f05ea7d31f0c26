/** The error of a CRD that the API server rejects, in terms of the schema that a kind declares. */
import type { ApiError, StatusCause } from "./errors.ts";

/** The API server rejects a CRD. A retry does not help: the schema of its kind has to change. */
export class CrdRejectedError extends Error {
  override readonly name = "CrdRejectedError";

  constructor(crd: { readonly name: string; readonly kind: string }, { answer, causes }: ApiError) {
    const problems = causes.length > 0 ? causes.map(problemOf) : [answer];
    // Without a cause: an answer of the API server would be retried.
    super(
      [
        `the API server rejects the CRD ${crd.name}. Change the schema of ${crd.kind} in defineKind:`,
        ...problems.map((problem) => `  ${problem}`),
      ].join("\n"),
    );
  }
}

/** The API server quotes all fields of a CEL rule before the problem, which quotes the rule itself. */
const ruleAsJson = /^Invalid value: \{"Rule":.*?\}: /;

/** `spec.words, maxLength: Invalid value: …`: the field of the kind, the keyword of its schema, and the problem. */
function problemOf({ field = "", message = "" }: StatusCause): string {
  const [, path] = /openAPIV3Schema\.?(.*)$/s.exec(field) ?? [];
  const place = path === undefined ? field : placeOf(path);
  const text = message.replace(ruleAsJson, "").replaceAll("\n", "\n    ");
  return [place, text].filter(Boolean).join(": ");
}

const step = /^(?:properties\[([^\]]+)\]|(items)|(additionalProperties))\.?/;

/** Turns `properties[spec].properties[words].items.pattern` into `spec.words[], pattern`. */
function placeOf(path: string): string {
  let rest = path;
  let place = "";
  for (let found = step.exec(rest); found !== null; found = step.exec(rest)) {
    const [text, property, items] = found;
    place += property === undefined ? (items ? "[]" : "[*]") : `${place === "" ? "" : "."}${property}`;
    rest = rest.slice(text.length);
  }
  return [place, rest].filter(Boolean).join(", ");
}

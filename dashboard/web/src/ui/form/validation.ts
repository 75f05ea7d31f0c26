/** Problems of drafts as sentences: those that the schema of the CRD finds, and those that Kubernetes reports. Pure. */
import { z } from "zod";
import type { FieldProblem } from "../../api/message.ts";
import { withLead } from "../lead.ts";
import { type Path, pathText } from "./draft.ts";
import { text } from "./text.ts";

/** The problems of a draft. Empty if it is valid. */
export function check(schema: z.ZodType, draft: unknown): readonly FieldProblem[] {
  const result = schema.safeParse(draft, { error: sentenceFor });
  if (result.success) return [];
  return result.error.issues.map(problemOf).map(({ path, message }) => ({
    field: pathText(path as Path),
    message,
  }));
}

/** A failed union has no useful message. Uses that of its last option, which users type. */
const problemOf = (issue: z.core.$ZodIssue): Pick<z.core.$ZodIssue, "path" | "message"> => {
  const of = issue.code === "invalid_union" ? issue.errors.at(-1)?.[0] : undefined;
  return { path: issue.path, message: of?.message ?? issue.message };
};

/** zod calls it for an issue for which the schema has no sentence of its own. */
function sentenceFor(issue: z.core.$ZodRawIssue): string {
  const { code, input } = issue;
  if (input === undefined) return text.enterValue;
  if (code === "invalid_type" && issue.expected === "number") return text.enterNumber;
  if (code === "invalid_type" && issue.expected === "int") return text.enterWhole;
  const isNumber = typeof input === "number";
  if (isNumber || typeof input === "string") {
    if (code === "too_small" && issue.inclusive)
      return (isNumber ? text.enterAtLeast : text.useAtLeast)(Number(issue.minimum));
    if (code === "too_big" && issue.inclusive)
      return (isNumber ? text.enterAtMost : text.useAtMost)(Number(issue.maximum));
  }
  return withLead(text.invalid, { message: wordsOf(issue) });
}

/** zod's own words, without a beginning that repeats the sentence before them. */
function wordsOf(issue: z.core.$ZodRawIssue): string {
  const given = z.config().localeError?.(issue);
  const words = typeof given === "string" ? given : given?.message;
  return words?.replace(/^Invalid input: /, "") ?? issue.code;
}

/** The message of a response about a field as a sentence. Reasons of Kubernetes often begin with what the lead already says. */
export const sentenceOf = ({ message, isSentence = false }: FieldProblem): string =>
  withLead(text.rejected, { message: message.replace(/^Invalid value: /, ""), isSentence });

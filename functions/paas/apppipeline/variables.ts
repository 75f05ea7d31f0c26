/** Placeholders in an AppPipeline's template: `{{number}}`, `{{slug}}`, and so on. Pure. */
import { ownValue } from "denrei/values";
import type { AppPipeline } from "../kinds/apppipeline.ts";
import type { Candidate } from "./select.ts";
import { slugOf } from "./slug.ts";

type Template = AppPipeline["spec"]["applicationTemplate"];
type Variables = Readonly<Record<string, string>>;

/** Values of the placeholders. `sha` is the commit of the preview: for a fork the approved one. */
function variablesOf(candidate: Candidate, host: string): Variables {
  const { number, headSHA, approvedSHA, slug = slugOf(candidate) } = candidate;
  const sha = approvedSHA ?? headSHA;
  return { number: String(number), slug, sha, short_sha: sha.slice(0, 7), host };
}

/** Leaves unknown names in braces alone: they belong to other template languages. */
const filled = (text: string, variables: Variables): string =>
  text.replace(/\{\{\s*([a-z_]+)\s*\}\}/g, (whole, name: string) => ownValue(variables, name) ?? whole);

const filledValues = (values: Variables, variables: Variables): Variables =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, filled(value, variables)]));

/**
 * Replaces placeholders in arguments, attributes, annotations, and values of variables. The author of a pull request chooses the
 * branch name, so only its slug is available, which is safe in all of these places.
 */
export function filledTemplate({ metadata, spec }: Template, candidate: Candidate, host: string): Template {
  const variables = variablesOf(candidate, host);
  const { annotations } = metadata ?? {};
  const { args, attributes, env } = spec ?? {};
  return {
    ...(metadata && {
      metadata: { ...metadata, ...(annotations && { annotations: filledValues(annotations, variables) }) },
    }),
    ...(spec && {
      spec: {
        ...spec,
        ...(args && { args: args.map((arg) => filled(arg, variables)) }),
        ...(attributes && { attributes: filledValues(attributes, variables) }),
        ...(env && {
          env: env.map((one) =>
            one.value === undefined ? one : { ...one, value: filled(one.value, variables) },
          ),
        }),
      },
    }),
  };
}

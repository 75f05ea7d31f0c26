/**
 * What the webhook of kpack v0.17.2 refuses of a Build, in its words. Left out: rules about caches, service bindings, notary,
 * and the last Build; of a difference that is not between texts, only that there is one is as kpack says it.
 */
import { type FieldError, invalid, missing } from "./fielderrors.ts";
import { envErrors, sourceErrors } from "./imagerules.ts";
import type { Build } from "./kinds.ts";
import { parseTag } from "./reference.ts";

/** Everything that is wrong with a Build; `before` is what it is to replace. */
export function buildErrors({ spec }: Build, before: Build | undefined): FieldError[] {
  const { tags = [], builder, source, env } = spec;
  const changes = before ? differences(before.spec, spec, "{*v1alpha2.BuildSpec}") : [];
  return [
    ...(tags.length === 0 ? [missing("spec.tags")] : []),
    ...tags.flatMap((tag, at) => (parseTag(tag) ? [] : [invalid(tag, `spec.tags[${at}]`)])),
    ...(builder.image || "ref" in builder ? [] : [missing("spec.builder.image")]),
    ...sourceErrors(source),
    ...envErrors(env, "spec.env"),
    ...(changes.length === 0
      ? []
      : [
          { message: "Immutable fields changed (-old +new)", path: "spec.spec", details: changes.join("\n") },
        ]),
  ];
}

/** Where two values differ, as go-cmp shows it. */
function differences(before: unknown, now: unknown, path: string): string[] {
  if (JSON.stringify(before) === JSON.stringify(now)) return [];
  if (!isObject(before) || !isObject(now))
    return [`${path}:\n\t-: ${JSON.stringify(before)}\n\t+: ${JSON.stringify(now)}`];
  return [...new Set([...Object.keys(before), ...Object.keys(now)])].flatMap((name) =>
    differences(before[name] ?? "", now[name] ?? "", `${path}${step(name)}`),
  );
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

/** Fields are called as in Go. */
const step = (name: string): string =>
  /^\d+$/.test(name)
    ? `[${name}]`
    : `.${name === "url" ? "URL" : name.charAt(0).toUpperCase() + name.slice(1)}`;

/**
 * Validation of a Build by the webhook of kpack v0.17.2, with kpack's messages. Not simulated: rules about caches, service
 * bindings, notary, and the last Build. For changes of values that are not strings, the message only resembles kpack's.
 */
import { type FieldError, invalid, missing } from "./fielderrors.ts";
import { envErrors, sourceErrors } from "./imagerules.ts";
import type { Build } from "./kinds.ts";
import { parseTag } from "./reference.ts";

/** All errors of a Build; `before` is the stored one that it replaces. */
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

/** Differences between two values, in go-cmp's format. */
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

/** The name of a field in Go. */
const step = (name: string): string =>
  /^\d+$/.test(name)
    ? `[${name}]`
    : `.${name === "url" ? "URL" : name.charAt(0).toUpperCase() + name.slice(1)}`;

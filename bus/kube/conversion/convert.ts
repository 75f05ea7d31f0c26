/**
 * Converts objects between the versions of a kind, each one through the stored version. A conversion there and back loses nothing:
 * what the target version cannot express stays in an annotation, and returns from it.
 */
import { isSameJson } from "../../values/canonicaljson.ts";
import { apiVersionOf, type Kind } from "../kind.ts";
import type { Content, Conversion, ConvertedVersion, KindVersion } from "../kindversions.ts";
import type { KubeObject, ObjectMeta } from "../object.ts";
import { keptContent, withKept } from "./kept.ts";
import { mergeEdit } from "./merge.ts";

/** An object cannot be converted. The message names it, and the fields that do not match its schema. */
export class ConversionError extends Error {
  override readonly name = "ConversionError";
}

/** One conversion, and the opposite one. */
interface Step {
  readonly from: KindVersion;
  readonly to: KindVersion;
  readonly there: Conversion;
  readonly back: Conversion;
}

/** Converts an object of the kind to another of its versions. Throws a {@link ConversionError}. */
export function convertObject(kind: Kind, object: KubeObject, version: string): KubeObject {
  const found = object.apiVersion.slice(kind.group.length + 1);
  if (object.apiVersion !== apiVersionOf({ group: kind.group, version: found }))
    throw new ConversionError(
      `expected a ${kind.kind} of the group ${kind.group}, found ${object.apiVersion}`,
    );
  if (found === version) return object;
  const stored = storedVersion(kind);
  return steps(kind, stored, found, version).reduce(
    (current, step) => convertStep(kind, current, step),
    object,
  );
}

function storedVersion({ version, definition }: Kind): KindVersion {
  if (definition === undefined) throw new TypeError("expected a kind that was defined with defineKind");
  return { ...definition, name: version };
}

function steps(kind: Kind, stored: KindVersion, from: string, to: string): readonly Step[] {
  const up = from === stored.name ? [] : [versionNamed(kind, from)];
  const down = to === stored.name ? [] : [versionNamed(kind, to)];
  return [
    ...up.map((version) => ({
      ...{ from: version, to: stored, there: version.upgrade, back: version.downgrade },
    })),
    ...down.map((version) => ({
      ...{ from: stored, to: version, there: version.downgrade, back: version.upgrade },
    })),
  ];
}

function versionNamed({ kind, version, definition }: Kind, name: string): ConvertedVersion {
  const converted = definition?.converted ?? [];
  const found = converted.find((one) => one.name === name);
  if (found !== undefined) return found;
  const known = [...converted.map((one) => one.name), version].join(", ");
  throw new ConversionError(`${kind} has no version ${name}, only ${known}`);
}

function convertStep(kind: Kind, object: KubeObject, step: Step): KubeObject {
  const { from, to, there, back } = step;
  const apiVersion = apiVersionOf({ group: kind.group, version: to.name });
  // The API server also converts objects without content, to compute who manages their fields.
  if (object.spec === undefined) return { ...object, apiVersion };
  const fail = (error: unknown): never => {
    throw new ConversionError(
      `cannot convert ${textOf(kind, object)} from ${from.name} to ${to.name}: ${reasonOf(error, from, object)}`,
      {
        cause: error,
      },
    );
  };
  const content = filled(from, { spec: object.spec, status: object.status });
  const convert = (which: Conversion, given: Content, target: KindVersion): Content =>
    run(which, object.metadata, given, target);
  try {
    const plain = convert(there, content, to);
    const kept = keptContent(object.metadata, to, plain);
    const result = kept === undefined ? plain : restored({ step, convert, kept, plain });
    const lost = lostBy(content, () => convert(back, result, from));
    const { spec: _spec, status: _status, ...rest } = object;
    return {
      ...rest,
      apiVersion,
      metadata: withKept(object.metadata, { from: from.name, to: to.name, lost }),
      spec: result.spec,
      ...(result.status !== undefined && { status: result.status }),
    };
  } catch (error) {
    return fail(error);
  }
}

/** The kept content, with the changes that were made to the object since. */
function restored({
  step,
  convert,
  kept,
  plain,
}: {
  readonly step: Step;
  readonly convert: (which: Conversion, given: Content, target: KindVersion) => Content;
  readonly kept: Content;
  readonly plain: Content;
}): Content {
  const { from, to, there, back } = step;
  let base: Content;
  try {
    base = convert(there, convert(back, kept, from), to);
  } catch {
    // Users can edit the annotation. Without a base, the changes are unknown.
    return plain;
  }
  const { spec, status = {} } = to.structural;
  return {
    spec: mergeEdit(kept.spec, base.spec, plain.spec, spec),
    status: mergeEdit(kept.status, base.status, plain.status, status),
  };
}

/** The parts of the content that the opposite conversion does not restore. */
function lostBy(content: Content, back: () => Content): Partial<Content> {
  let again: Content;
  try {
    again = back();
  } catch {
    return content;
  }
  return {
    ...(!isSameJson(again.spec, content.spec) && { spec: content.spec }),
    ...(!isSameJson(again.status, content.status) && { status: content.status ?? null }),
  };
}

function run(conversion: Conversion, metadata: ObjectMeta, given: Content, target: KindVersion): Content {
  // A copy, so that a conversion may change what it receives.
  const result = conversion(structuredClone({ metadata, ...given }));
  if (typeof result?.spec !== "object" || result.spec === null)
    throw new TypeError(`the conversion to ${target.name} returned no spec`);
  const { spec, status } = JSON.parse(
    JSON.stringify({ spec: result.spec, status: result.status }),
  ) as Content;
  return filled(target, { spec, status });
}

/** Fills in the defaults. Content that does not match its schema stays unchanged: rejecting it would make whole lists unreadable. */
function filled(version: KindVersion, { spec, status }: Content): Content {
  const parsed = version.spec.safeParse(spec);
  const parsedStatus = status === undefined ? undefined : version.status?.safeParse(status);
  return {
    spec: parsed.success ? parsed.data : spec,
    status: version.status === undefined ? undefined : parsedStatus?.success ? parsedStatus.data : status,
  };
}

const textOf = (kind: Kind, { metadata }: KubeObject): string =>
  [kind.kind, [metadata?.namespace, metadata?.name].filter(Boolean).join("/")].filter(Boolean).join(" ");

function reasonOf(error: unknown, from: KindVersion, { spec }: KubeObject): string {
  const message = error instanceof Error ? error.message : String(error);
  const problems = from.spec.safeParse(spec).error?.issues ?? [];
  if (problems.length === 0) return message;
  const fields = problems.map(
    ({ path, message }) => `${["spec", ...path.map(String)].join(".")}: ${message}`,
  );
  return `${message}; the object does not match the schema of ${from.name}: ${fields.join("; ")}`;
}

/** The annotation with content of a version that the object's current version cannot express. */
import { canonicalJson } from "../../values/canonicaljson.ts";
import { domain } from "../domain.ts";
import type { Content, KindVersion } from "../kindversions.ts";
import type { ObjectMeta } from "../object.ts";

/** The annotation for content of a version. */
export const keptAnnotation = (version: string): string => `${domain}/conversion-data-${version}`;

/**
 * The content of `version` in the annotation, or undefined. Parts that were not lost are those of `plain`. Users can write the
 * annotation, so content that does not match the schema does not count.
 */
export function keptContent(metadata: ObjectMeta, version: KindVersion, plain: Content): Content | undefined {
  const text = metadata?.annotations?.[keptAnnotation(version.name)];
  if (text === undefined) return undefined;
  const { spec, status } = parsed(text) ?? {};
  if (spec === undefined && status === undefined) return undefined;
  const isValid =
    (spec === undefined || version.spec.safeParse(spec).success) &&
    (status === undefined || status === null || version.status?.safeParse(status).success === true);
  if (!isValid) return undefined;
  return { spec: spec ?? plain.spec, status: status === null ? undefined : (status ?? plain.status) };
}

function parsed(text: string): Partial<Content> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The metadata after a conversion: without the annotation of the new version, and with what the old one had in addition. */
export function withKept(
  metadata: ObjectMeta,
  { from, to, lost }: { readonly from: string; readonly to: string; readonly lost: Partial<Content> },
): ObjectMeta {
  const { annotations: found, ...rest } = metadata;
  const { [keptAnnotation(from)]: _from, [keptAnnotation(to)]: _to, ...annotations } = found ?? {};
  if (Object.keys(lost).length > 0) annotations[keptAnnotation(from)] = canonicalJson(lost);
  return Object.keys(annotations).length > 0 ? { ...rest, annotations } : rest;
}

/** Checks the conversions of a kind with several versions. */

import { apiVersionOf, type Kind, type KubeObject } from "denrei/kinds";
import { convertObject, type KindVersion } from "denrei/kubernetes";
import { isSameJson } from "denrei/values";
import { z } from "zod";

/** Content of an object in one version of its kind. */
export interface ConversionSample {
  readonly version: string;
  readonly spec: unknown;
  readonly status?: unknown;
}

/**
 * Converts each sample to every version of the kind and back. Returns the problems that it finds: conversions that throw, results
 * that do not match their schema, and objects that are different afterwards. Needs no cluster, so a property test can call it.
 *
 * @example
 * ```ts
 * expect(conversionProblems(Parcel, [{ version: "v1alpha1", spec: { to: "Kyoto" } }])).toEqual([]);
 * ```
 */
export function conversionProblems<T extends KubeObject>(
  kind: Kind<T>,
  samples: readonly ConversionSample[],
): string[] {
  const { definition } = kind;
  if (definition === undefined)
    throw new TypeError(`${kind.kind} is an external kind: it has no conversions`);
  const versions: readonly KindVersion[] = [...definition.converted, { ...definition, name: kind.version }];
  return samples.flatMap((sample) => versions.flatMap((version) => problemsOf(kind, sample, version)));
}

function problemsOf(kind: Kind, { version, spec, status }: ConversionSample, to: KindVersion): string[] {
  const way = `${JSON.stringify(spec)} from ${version} to ${to.name}`;
  const given: KubeObject = {
    apiVersion: apiVersionOf({ group: kind.group, version }),
    kind: kind.kind,
    metadata: { name: "sample" },
    spec,
    ...(status !== undefined && { status }),
  };
  try {
    const there = convertObject(kind, given, to.name);
    const again = convertObject(kind, there, version);
    const isSame = isSameJson([again.spec, again.status], [spec, status]);
    return [
      ...mismatches(to.spec, there.spec, "spec"),
      ...(there.status === undefined || !to.status ? [] : mismatches(to.status, there.status, "status")),
      ...(isSame ? [] : [`there and back it becomes ${JSON.stringify(again.spec)}`]),
    ].map((problem) => `${way}: ${problem}`);
  } catch (error) {
    return [`${way}: ${(error as Error).message}`];
  }
}

function mismatches(schema: z.ZodObject, value: unknown, name: string): string[] {
  const { error } = schema.safeParse(value);
  return error === undefined ? [] : [`the ${name} does not match its schema: ${z.prettifyError(error)}`];
}

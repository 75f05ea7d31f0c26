/** Finds out whether installing a CRD would remove something that a newer version added. */

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
}

/** The part of a schema that defines fields. */
export interface CrdVersions {
  readonly versions: readonly {
    readonly name: string;
    readonly schema?: { readonly openAPIV3Schema?: Schema };
  }[];
}

/** Versions and fields that the found CRD has and the desired one lacks, as `v1` or `v1 .spec.words`. */
export function lostBy(found: CrdVersions, wanted: CrdVersions): string[] {
  return found.versions.flatMap(({ name, schema }) => {
    const version = wanted.versions.find((other) => other.name === name);
    if (version === undefined) return [name];
    const kept = new Set(fieldsOf(version.schema?.openAPIV3Schema));
    return fieldsOf(schema?.openAPIV3Schema)
      .filter((field) => !kept.has(field))
      .map((field) => `${name} ${field}`);
  });
}

function fieldsOf(schema: Schema | undefined, path = ""): string[] {
  const { properties = {}, items, additionalProperties } = schema ?? {};
  return [
    ...Object.entries(properties).flatMap(([name, inner]) => [
      `${path}.${name}`,
      ...fieldsOf(inner, `${path}.${name}`),
    ]),
    ...(items ? fieldsOf(items, `${path}[]`) : []),
    ...(typeof additionalProperties === "object" ? fieldsOf(additionalProperties, `${path}{}`) : []),
  ];
}

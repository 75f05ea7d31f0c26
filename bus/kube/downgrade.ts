/** Whether installing a CRD would take something away that a newer version has brought. */

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
}

/** As far as it tells what objects may have. */
export interface CrdVersions {
  readonly versions: readonly {
    readonly name: string;
    readonly schema?: { readonly openAPIV3Schema?: Schema };
  }[];
}

/** Versions and fields of the CRD that is found and that the wanted one does not have, as `v1` or `v1 .spec.words`. */
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

/** Objects as YAML. */
import type { KubeObject } from "denrei/kinds";
import { isScalar, parseDocument, stringify, visit } from "yaml";

/** kubectl reads YAML 1.1, in which an unquoted `yes` is a boolean. */
const version = "1.1";

/** An object as YAML, without `managedFields`. */
export function yamlOf(object: KubeObject): string {
  const { apiVersion, kind, metadata, ...rest } = object;
  const { managedFields: _, ...shown } = metadata as KubeObject["metadata"] & { managedFields?: unknown };
  return stringify(
    { apiVersion, kind, metadata: shown, ...rest },
    { version, lineWidth: 0, aliasDuplicateObjects: false },
  );
}

/** A piece of YAML text: a key, or the text up to the next key. */
export interface YamlPart {
  readonly text: string;
  readonly isKey: boolean;
}

/** Splits YAML text. The pieces joined are the text. */
export function partsOf(yaml: string): readonly YamlPart[] {
  const parts: YamlPart[] = [];
  let end = 0;
  visit(parseDocument(yaml, { version }), {
    Pair(_, { key }) {
      if (!isScalar(key) || !key.range) return;
      const [from, to] = key.range;
      parts.push({ text: yaml.slice(end, from), isKey: false }, { text: yaml.slice(from, to), isKey: true });
      end = to;
    },
  });
  return [...parts, { text: yaml.slice(end), isKey: false }];
}

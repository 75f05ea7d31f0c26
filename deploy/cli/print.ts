/** Printing manifests. */
import { yamlText } from "../generate/yaml.ts";

/** Options of commands that print manifests. */
export interface PrintOptions {
  readonly json?: boolean;
}

/** Prints manifests as YAML documents or as a JSON list, for kubectl. */
export function print(manifests: readonly object[], { json }: PrintOptions): void {
  const text = json
    ? JSON.stringify({ apiVersion: "v1", kind: "List", items: manifests }, null, 2)
    : yamlText(manifests);
  process.stdout.write(text.endsWith("\n") ? text : `${text}\n`);
}

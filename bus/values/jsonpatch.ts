/** JSON patches: https://www.rfc-editor.org/rfc/rfc6902 */
import { isSameJson } from "./canonicaljson.ts";

/** One operation of a JSON patch. The path is a JSON pointer (RFC 6901). */
export type PatchOperation =
  | { readonly op: "add" | "replace"; readonly path: string; readonly value: unknown }
  | { readonly op: "remove"; readonly path: string };

type Fields = Readonly<Record<string, unknown>>;

/** The operations that turn one JSON value into another. Lists that differ are replaced as a whole. */
export function jsonPatch(from: unknown, to: unknown, path = ""): PatchOperation[] {
  if (isSameJson(from, to)) return [];
  if (!areFields(from) || !areFields(to)) return [{ op: "replace", path, value: to }];
  const names = new Set([...Object.keys(from), ...Object.keys(to)]);
  return [...names].flatMap((name): PatchOperation[] => {
    const at = `${path}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    if (!Object.hasOwn(to, name)) return [{ op: "remove", path: at }];
    if (!Object.hasOwn(from, name)) return [{ op: "add", path: at, value: to[name] }];
    return jsonPatch(from[name], to[name], at);
  });
}

const areFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Manifests with places where a chart puts in what a site has chosen, as text of a Helm template. */
import { stringify } from "yaml";

/** The marks around an expression within a string; characters that no manifest has (Unicode's private use). */
const [opening, closing] = ["\uE000", "\uE001"];

/** An expression as a string, or as part of one: `name-{{ .Values.x }}`. */
export const expression = (text: string): string =>
  `${opening}${Buffer.from(text).toString("base64url")}${closing}`;

/** Lines of a template in the place of a field, by the field's name and how far it is indented. */
export class Place {
  readonly lines: (key: string, indent: number) => readonly string[];

  constructor(lines: Place["lines"]) {
    this.lines = lines;
  }
}

/** A field with all of a value in it. */
export const all = (value: string): Place =>
  new Place((key, indent) => [`${spaces(indent)}${key}: {{- toYaml ${value} | nindent ${indent + 2} }}`]);

/** The same, or no such field where the value is empty. */
export const allIfAny = (value: string): Place => when(value, all(value));

/** A field that is there on a condition only. */
export const when = (condition: string, value: unknown): Place =>
  new Place((key, indent) => [`{{- if ${condition} }}`, ...field(key, value, indent), "{{- end }}"]);

/** A field that has one value or another. */
export const either = (condition: string, value: unknown, otherwise: unknown): Place =>
  new Place((key, indent) => [
    `{{- if ${condition} }}`,
    ...field(key, value, indent),
    "{{- else }}",
    ...field(key, otherwise, indent),
    "{{- end }}",
  ]);

/** A field for each entry of a map of strings. */
export const eachOf = (map: string): Place =>
  new Place((_, indent) => [
    `{{- range $key, $value := ${map} }}`,
    `${spaces(indent)}{{ $key }}: {{ $value | quote }}`,
    "{{- end }}",
  ]);

/** One document per manifest. */
export const templateText = (manifests: readonly object[]): string =>
  manifests
    .map((manifest) =>
      block(manifest, 0)
        .map((line) => `${line}\n`)
        .join(""),
    )
    .join("---\n");

/** Documents that are there on a condition. */
export const conditional = (condition: string, text: string): string =>
  `{{- if ${condition} }}\n${text}{{- end }}\n`;

function block(value: object, indent: number): string[] {
  if (!Array.isArray(value))
    return Object.entries(value).flatMap(([key, inner]) => [...field(key, inner, indent)]);
  return value.flatMap((item: unknown) => {
    const lines = isBlock(item) ? block(item, indent + 2) : scalar(item, indent + 2);
    return lines.map((line, at) => (at === 0 ? `${spaces(indent)}- ${line.slice(indent + 2)}` : line));
  });
}

function field(key: string, value: unknown, indent: number): readonly string[] {
  if (value instanceof Place) return value.lines(key, indent);
  if (!isBlock(value)) return scalar({ [key]: value }, indent);
  const [name = ""] = scalar({ [key]: null }, indent);
  return [name.replace(/ null$/, ""), ...block(value, indent + 2)];
}

const isBlock = (value: unknown): value is object =>
  typeof value === "object" && value !== null && Object.keys(value).length > 0;

function scalar(value: unknown, indent: number): string[] {
  const lines = stringify(value, { compat: "yaml-1.1", lineWidth: 0 }).trimEnd().split("\n");
  return lines.map((line) => (line === "" ? "" : spaces(indent) + withExpressions(line)));
}

/** What is a template's syntax in the manifest itself (Prometheus has the same) stays as it is. */
const withExpressions = (line: string): string =>
  line
    .replaceAll("{{", '{{ "{{" }}')
    .replaceAll(
      new RegExp(`${opening}(.*?)${closing}`, "g"),
      (_, text: string) => `{{ ${Buffer.from(text, "base64url")} }}`,
    );

const spaces = (count: number): string => " ".repeat(count);

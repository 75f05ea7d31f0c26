/** Text of Helm templates: manifests with expressions on values. */
import { stringify } from "yaml";

/** Delimiters of an expression within a string, from Unicode's private use area, which no manifest contains. */
const [opening, closing] = ["\uE000", "\uE001"];

/** An expression as a string or part of a string: `name-{{ .Values.x }}`. */
export const expression = (text: string): string =>
  `${opening}${Buffer.from(text).toString("base64url")}${closing}`;

/** Template lines that replace a field, given the field's name and indentation. */
export class TemplateField {
  readonly lines: (key: string, indent: number) => readonly string[];

  constructor(lines: TemplateField["lines"]) {
    this.lines = lines;
  }
}

/** A field whose value is a whole value of the chart. */
export const wholeValue = (value: string): TemplateField =>
  new TemplateField((key, indent) => [
    `${spaces(indent)}${key}: {{- toYaml ${value} | nindent ${indent + 2} }}`,
  ]);

/** Like {@link wholeValue}, but renders no field when the value is empty. */
export const wholeValueIfSet = (value: string): TemplateField => when(value, wholeValue(value));

/** A field that is rendered only under a condition. */
export const when = (condition: string, value: unknown): TemplateField =>
  new TemplateField((key, indent) => [`{{- if ${condition} }}`, ...field(key, value, indent), "{{- end }}"]);

/** A field with one of two values. */
export const either = (condition: string, value: unknown, otherwise: unknown): TemplateField =>
  new TemplateField((key, indent) => [
    `{{- if ${condition} }}`,
    ...field(key, value, indent),
    "{{- else }}",
    ...field(key, otherwise, indent),
    "{{- end }}",
  ]);

/** An item of a list that is rendered only under a condition. */
export interface ConditionalItem {
  /** Undefined: always. */
  readonly condition: string | undefined;
  readonly value: unknown;
}

/** A list of which some items are rendered only under a condition. */
export const conditionalList = (items: readonly ConditionalItem[]): TemplateField =>
  new TemplateField((key, indent) => [
    `${spaces(indent)}${key}:`,
    ...items.flatMap(({ condition, value }) => {
      const lines = block([value], indent + 2);
      return condition === undefined ? lines : [`{{- if ${condition} }}`, ...lines, "{{- end }}"];
    }),
  ]);

/** A field for each entry of a map of strings. */
export const eachOf = (map: string): TemplateField =>
  new TemplateField((_, indent) => [
    `{{- range $key, $value := ${map} }}`,
    `${spaces(indent)}{{ $key }}: {{ $value | quote }}`,
    "{{- end }}",
  ]);

/** A template with one document per manifest. */
export const templateText = (manifests: readonly object[]): string =>
  manifests
    .map((manifest) =>
      block(manifest, 0)
        .map((line) => `${line}\n`)
        .join(""),
    )
    .join("---\n");

/** Template text that is rendered only under a condition. */
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
  if (value instanceof TemplateField) return value.lines(key, indent);
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

/** Expands expressions, and escapes `{{` of the manifest itself, which Prometheus uses too. */
const withExpressions = (line: string): string =>
  line
    .replaceAll("{{", '{{ "{{" }}')
    .replaceAll(
      new RegExp(`${opening}(.*?)${closing}`, "g"),
      (_, text: string) => `{{ ${Buffer.from(text, "base64url")} }}`,
    );

const spaces = (count: number): string => " ".repeat(count);

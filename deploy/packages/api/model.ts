/**
 * The parts in use of the model that API Extractor writes for an entry point (`*.api.json`):
 * https://api-extractor.com/pages/setup/generating_docs/
 */
import type { EntryPoint } from "../workspaces.ts";

/** A part of a declaration's text. References name the declaration that they refer to. */
export interface Token {
  readonly kind: "Content" | "Reference";
  readonly text: string;
  readonly canonicalReference?: string;
}

/** A declaration, or a member of one. */
export interface Item {
  readonly kind: string;
  /** Constructors and call signatures have none. */
  readonly name?: string;
  readonly canonicalReference: string;
  readonly docComment?: string;
  readonly excerptTokens?: readonly Token[];
  readonly members?: readonly Item[];
  /** The declaration's file, relative to the package. */
  readonly fileUrlPath?: string;
}

/** An entry point with its declarations. */
export interface Api {
  readonly entryPoint: EntryPoint;
  /** The comment at the start of the module, as text. */
  readonly about: string;
  readonly items: readonly Item[];
  /** The declarations alone, for reviews. */
  readonly report: string;
}

/** A name without the number that API Extractor adds to equal names of one entry point. */
export const withoutNumber = (name: string): string => name.replace(/_\d+$/, "");

/** The name of a declaration in its source. */
export const plainName = ({ name = "" }: Item): string => withoutNumber(name);

/** Identifies a declaration across entry points. */
export const identityOf = ({ workspace }: EntryPoint, item: Item): string =>
  `${workspace.folder}/${item.fileUrlPath}#${plainName(item)}`;

/** A reference without the number of an overload. */
export const reference = (canonicalReference: string): string => canonicalReference.replace(/\(\d+\)$/, "");

/** Whether the entry point exports the declaration. It may also only refer to it: `denrei!~Json:type`. */
export const isExported = ({ canonicalReference }: Item): boolean => !canonicalReference.includes("!~");

/** Whether a declaration is only a value: a constant or a function. */
export const isValue = ({ kind }: Item): boolean => kind === "Variable" || kind === "Function";

/** The declarations that any entry point exports. */
export const exportedIdentities = (apis: readonly Api[]): ReadonlySet<string> =>
  new Set(
    apis.flatMap(({ entryPoint, items }) =>
      items.filter(isExported).map((item) => identityOf(entryPoint, item)),
    ),
  );

/** Constants and functions that the types of an entry point refer to, and that no entry point exports. */
export const unexportedValues = (
  { entryPoint, items }: Api,
  exported: ReadonlySet<string>,
): readonly Item[] =>
  items.filter((item) => isValue(item) && !isExported(item) && !exported.has(identityOf(entryPoint, item)));

/** The text of a declaration, as in a module of declarations. */
export function textOf(item: Item): string {
  const text = (item.excerptTokens ?? []).map((token) => token.text).join("");
  // Of a constant, API Extractor gives only the name and the type.
  const isConstant = isValue(item) && !/^(export|declare) /.test(text);
  return isConstant ? `export declare const ${text};` : text;
}

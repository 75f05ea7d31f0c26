/**
 * What API Extractor finds at an entry point, as far as it is used here (`*.api.json`):
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
export const plainName = ({ name = "" }: Item): string => name.replace(/_\d+$/, "");

/** Identifies a declaration across entry points. */
export const identityOf = ({ workspace }: EntryPoint, item: Item): string =>
  `${workspace.folder}/${item.fileUrlPath}#${plainName(item)}`;

/** A reference without the number of an overload. */
export const reference = (canonicalReference: string): string => canonicalReference.replace(/\(\d+\)$/, "");

/** Whether the entry point exports the declaration. It may also only refer to it: `denrei!~Json:type`. */
export const isExported = ({ canonicalReference }: Item): boolean => !canonicalReference.includes("!~");

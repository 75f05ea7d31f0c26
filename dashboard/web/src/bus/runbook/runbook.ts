/** Runbooks of docs/operations.md, as the build of the page reads them. */

/** A section of the document. */
export interface Runbook {
  /** Its anchor in the document. */
  readonly id: string;
  readonly title: string;
  readonly blocks: readonly Block[];
}

/** A block of text. */
export type Block =
  | { readonly type: "paragraph"; readonly of: readonly Inline[] }
  | { readonly type: "list"; readonly isOrdered: boolean; readonly items: readonly (readonly Block[])[] }
  | { readonly type: "code"; readonly text: string };

/** A part of a line. */
export type Inline =
  | string
  | { readonly type: "code"; readonly text: string }
  | { readonly type: "strong" | "em"; readonly of: readonly Inline[] }
  /** To another runbook, or outside of the document. */
  | { readonly type: "link"; readonly to: string; readonly of: readonly Inline[] }
  /** A part of the documentation that the page does not have. */
  | { readonly type: "document"; readonly path: string; readonly of: readonly Inline[] };

/** The screen of a runbook, or of all. */
export const runbookAddress = (id?: string): string => `/bus/runbooks${id === undefined ? "" : `/${id}`}`;

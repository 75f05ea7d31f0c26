/** Puts the runbooks into the page at build time, so that they always describe the running version and need no network. */
import { readFile } from "node:fs/promises";
import { lexer, type Token, type Tokens } from "marked";
import type { Plugin } from "vite";
import { type Block, type Inline, type Runbook, runbookAddress } from "./src/bus/runbook/runbook.ts";

const document = "docs/operations.md";

/** The sections below the heading "Runbooks". Throws for markup that the page cannot show. */
export function runbooksOf(markdown: string): readonly Runbook[] {
  const tokens = lexer(markdown);
  const isHeading = (token: Token, depth: number): token is Tokens.Heading =>
    token.type === "heading" && token.depth === depth;
  const start = tokens.findIndex((token) => isHeading(token, 2) && token.text === "Runbooks");
  if (start < 0) throw new Error(`${document} has no section "Runbooks"`);
  const rest = tokens.slice(start + 1);
  const end = rest.findIndex((token) => isHeading(token, 2));
  const section = rest.slice(0, end < 0 ? undefined : end);
  const sections: { title: string; tokens: Token[] }[] = [];
  for (const token of section)
    if (isHeading(token, 3)) sections.push({ title: token.text, tokens: [] });
    else sections.at(-1)?.tokens.push(token);
  const ids = new Set(sections.map(({ title }) => anchorOf(title)));
  return sections.map(({ title, tokens: content }) => ({
    id: anchorOf(title),
    title,
    blocks: content.flatMap((token) => blockOf(token, ids)),
  }));
}

const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, "")
    .replaceAll(" ", "-");

function blockOf(token: Token, ids: ReadonlySet<string>): readonly Block[] {
  const inline = (tokens: readonly Token[] = []) => tokens.map((part) => inlineOf(part, ids));
  switch (token.type) {
    case "space":
      return [];
    case "paragraph":
    case "text":
      return [{ type: "paragraph", of: inline(token.tokens) }];
    case "code":
      return [{ type: "code", text: token.text }];
    case "list":
      return [
        {
          type: "list",
          isOrdered: token.ordered,
          items: (token as Tokens.List).items.map(({ tokens }) =>
            tokens.flatMap((part) => blockOf(part, ids)),
          ),
        },
      ];
    default:
      throw new Error(`the page cannot show ${token.type} of ${document}: ${token.raw}`);
  }
}

function inlineOf(token: Token, ids: ReadonlySet<string>): Inline {
  const of = ((token as Tokens.Generic).tokens ?? []).map((part) => inlineOf(part, ids));
  switch (token.type) {
    case "text":
    case "escape":
      return token.text;
    case "codespan":
      // A line break within it.
      return { type: "code", text: token.text.replaceAll("\n", " ") };
    case "strong":
    case "em":
      return { type: token.type, of };
    case "link":
      return linkOf(token.href, of, ids);
    default:
      throw new Error(`the page cannot show ${token.type} of ${document}: ${token.raw}`);
  }
}

function linkOf(href: string, of: readonly Inline[], ids: ReadonlySet<string>): Inline {
  if (href.startsWith("https:")) return { type: "link", to: href, of };
  const [path, anchor = ""] = href.split("#");
  if (path === "" && ids.has(anchor)) return { type: "link", to: runbookAddress(anchor), of };
  return { type: "document", path: path === "" ? `${document}#${anchor}` : `docs/${href}`, of };
}

/** Fills in the module of the page that holds the runbooks. */
export const runbooksPlugin = (): Plugin => ({
  name: "runbooks",
  load: {
    filter: { id: /\/bus\/runbook\/runbooks\.ts$/ },
    async handler() {
      const markdown = await readFile(new URL(`../../${document}`, import.meta.url), "utf8");
      return { code: `export const runbooks = ${JSON.stringify(runbooksOf(markdown))};`, moduleType: "js" };
    },
  },
});

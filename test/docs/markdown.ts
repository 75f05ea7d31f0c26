/** Reads links, anchors, and commands from a Markdown page. */
import GitHubSlugger from "github-slugger";
import { lexer, type Token, walkTokens } from "marked";

/** The parts of a page that refer to something else, or that something else refers to. */
export interface Page {
  /** Targets of links and images, unchanged. */
  readonly links: readonly string[];
  /** Fragments (without `#`) that links to this page may use. */
  readonly anchors: ReadonlySet<string>;
  /** Words of each command line, without comments. */
  readonly commands: readonly (readonly string[])[];
}

/** Languages of code blocks that contain commands; other blocks contain output. */
const shells = ["sh", "bash", "shell"];
const attribute = /\b(href|src|srcset|id|name)="([^"]*)"/g;

/** Parses a page. Anchors are computed as GitHub does. */
export function pageOf(text: string): Page {
  const links: string[] = [];
  const anchors = new Set<string>();
  const commands: (readonly string[])[] = [];
  const slugger = new GitHubSlugger();
  walkTokens(lexer(text), (token) => {
    switch (token.type) {
      case "link":
      case "image":
        links.push(token.href);
        break;
      case "heading":
        anchors.add(slugger.slug(plainText(token.tokens ?? [])));
        break;
      case "html":
        for (const [, name = "", value = ""] of token.text.matchAll(attribute))
          ["id", "name"].includes(name) ? anchors.add(value) : links.push(value);
        break;
      case "codespan":
        commands.push(...commandsIn(token.text));
        break;
      case "code":
        if (shells.includes(token.lang ?? "")) commands.push(...commandsIn(token.text));
    }
  });
  return { links, anchors, commands };
}

/** The visible text of tokens, without markup. */
const plainText = (tokens: readonly Token[]): string =>
  tokens
    .map((token) =>
      "tokens" in token && token.tokens ? plainText(token.tokens) : "text" in token ? token.text : "",
    )
    .join("");

/** Splits lines into commands, and drops comments and leading variable assignments. */
function commandsIn(code: string): string[][] {
  return code
    .replaceAll(/\\\n/g, " ")
    .split(/\n|\||&&|;|\$\(|\(/)
    .map((line) =>
      line
        .replace(/(^|\s)#.*$/, "")
        .trim()
        .split(/\s+/),
    )
    .map((words) => words.slice(words.findIndex((word) => !/^(\$|[A-Z_]+=\S*)$/.test(word))))
    .filter(([first = ""]) => first !== "");
}

/** What a page of Markdown points at: links, the anchors that others may link to, and commands that a reader types. */
import GitHubSlugger from "github-slugger";
import { lexer, type Token, walkTokens } from "marked";

/** A page, as far as it has to agree with what is around it. */
export interface Page {
  /** Targets of links and images, as they are written. */
  readonly links: readonly string[];
  /** What may stand behind `#` in a link to this page. */
  readonly anchors: ReadonlySet<string>;
  /** Words of each command line, without what is said about it. */
  readonly commands: readonly (readonly string[])[];
}

/** Languages of code blocks that are typed. In others is what is printed. */
const shells = ["sh", "bash", "shell"];
const attribute = /\b(href|src|srcset|id|name)="([^"]*)"/g;

/** Reads a page. Anchors are those that GitHub makes. */
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

/** What is seen of tokens: the text, without its marks. */
const plainText = (tokens: readonly Token[]): string =>
  tokens
    .map((token) =>
      "tokens" in token && token.tokens ? plainText(token.tokens) : "text" in token ? token.text : "",
    )
    .join("");

/** One line may hold several, one after the other. What is set before a command, and comments, are no part of it. */
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

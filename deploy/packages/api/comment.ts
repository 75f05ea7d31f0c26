/** Doc comments as Markdown. Their language is TSDoc: https://tsdoc.org */

/** The text of a doc comment. */
export const commentText = (comment: string): string =>
  comment
    .replace(/^\/\*\*\s?|\s*\*\/\s*$/g, "")
    .replaceAll(/^ *\* ?/gm, "")
    .replaceAll(/^@packageDocumentation\s*/gm, "")
    .trim();

/** The heading above the text of a tag. */
const headings: Readonly<Record<string, string>> = {
  example: "**Example**\n\n",
  throws: "**Throws** ",
  returns: "**Returns** ",
  remarks: "",
  deprecated: "**Deprecated.** ",
};

/** A doc comment as Markdown. `linkTo` returns the link to a declaration, or undefined if no page has it. */
export const commentMarkdown = (comment: string, linkTo: (name: string) => string | undefined): string =>
  commentText(comment)
    .replaceAll(/^@param (\S+) - /gm, "* `$1`: ")
    .replaceAll(/^@(\w+)\s*/gm, (tag, name: string) => headings[name] ?? tag)
    .replaceAll(/\{@link ([^}|]+?)(?: \| ([^}]+))?\}/g, (_, name: string, text = `\`${name}\``) => {
      const link = linkTo(name);
      return link === undefined ? text : `[${text}](${link})`;
    })
    .replaceAll(/\bdocs\/([\w-]+\.md)\b/g, "[$1](../$1)")
    // TSDoc escapes what Markdown does not.
    .replaceAll(/\\([{}>@])/g, "$1");

/** The first sentence, for lists. */
export const firstSentence = (markdown: string): string =>
  /^[\s\S]*?[.:?](?=\s|$)/
    .exec(markdown.split("\n\n")[0] ?? "")?.[0]
    .replace(/:$/, ".")
    .replaceAll("\n", " ") ??
  markdown.split("\n")[0] ??
  "";

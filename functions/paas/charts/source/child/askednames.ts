/**
 * Names that a text imports. TypeScript drops an import of a type when it compiles; what only strips types keeps it, and Node
 * refuses an import of what is not exported. So each module that TypeScript imports from gets the names that are asked of it.
 */

const comment = String.raw`\/\*[^]*?\*\/|\/\/[^\n]*`;
const gap = `(?:\\s|${comment})*`;
const name = String.raw`[\p{ID_Start}$_][\p{ID_Continue}$]*`;
const braces = String.raw`\{((?:${comment}|\/(?![/*])|[^{}/])*)\}`;
const clause = new RegExp(
  `\\b(?:import|export)\\b${gap}(?:(${name})${gap},?${gap})?(?:${braces}|\\*${gap}as\\s${gap}${name})?${gap}from${gap}(["'])([^"'\\n]+)\\3`,
  "gu",
);
const isName = new RegExp(`^${name}$`, "u");

/**
 * Names that a text without types imports, by where from; none where only types were imported. It may find too many of them,
 * in comments, and never too few.
 */
export function askedNames(text: string): ReadonlyMap<string, readonly string[]> {
  const asked = new Map<string, readonly string[]>();
  for (const [, byDefault, inBraces, , specifier = ""] of text.matchAll(clause)) {
    const named = (inBraces ?? "")
      .replaceAll(new RegExp(comment, "g"), " ")
      .split(",")
      .map((part) => part.trim().split(/\s+as\s+/)[0] ?? "")
      .filter((name) => isName.test(name));
    const names = [...(byDefault === undefined ? [] : ["default"]), ...named];
    if (names.length > 0 || isOnlyTypes(text, inBraces, specifier))
      asked.set(specifier, [...new Set([...(asked.get(specifier) ?? []), ...names])]);
  }
  return asked;
}

/** Whether nothing is left in the braces, and no other import is of the same module. */
const isOnlyTypes = (text: string, inBraces: string | undefined, specifier: string): boolean =>
  inBraces !== undefined &&
  [`"${specifier}"`, `'${specifier}'`].flatMap((quoted) => text.split(quoted).slice(1)).length === 1;

/** The text of a module with these names, whether another one has them or not, and with all other names of that one. */
export function textWithNames(specifier: string, names: readonly string[], standIns: string): string {
  const from = JSON.stringify(specifier);
  const exported = names.map((name, at) => {
    const key = JSON.stringify(name);
    return `const value${at} = ${key} in all ? all[${key}] : missing(${from}, ${key}); export { value${at} as ${name} };`;
  });
  return [
    `import * as all from ${from};`,
    // For an import of all names beside one of some.
    `export * from ${from};`,
    `import { missing } from ${JSON.stringify(standIns)};`,
    ...exported,
  ].join("\n");
}

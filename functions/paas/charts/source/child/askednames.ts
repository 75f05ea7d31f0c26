/**
 * Names that a text imports. TypeScript drops an import of a type when it compiles; what only strips types keeps it, and Node
 * refuses an import of what is not exported. So each module that TypeScript imports from gets the names that are asked of it.
 */

const clause =
  /\b(?:import|export)\b\s*(?:([\w$]+)\s*,?\s*)?(?:\{([^{}]*)\}|\*\s*as\s+[\w$]+)?\s*from\s*(["'])([^"'\n]+)\3/g;

/** Names that a text without types imports, by where from. It may find too many of them, in comments, and never too few. */
export function askedNames(text: string): ReadonlyMap<string, readonly string[]> {
  const asked = new Map<string, readonly string[]>();
  for (const [, byDefault, braces = "", , specifier = ""] of text.matchAll(clause)) {
    const named = braces
      .split(",")
      .map((part) => part.trim().split(/\s+as\s+/)[0] ?? "")
      .filter((name) => /^[\w$]+$/.test(name));
    const names = [...(byDefault === undefined ? [] : ["default"]), ...named];
    if (names.length > 0) asked.set(specifier, [...new Set([...(asked.get(specifier) ?? []), ...names])]);
  }
  return asked;
}

/** The text of a module that has exactly these names, of those of another one. */
export function textWithNames(specifier: string, names: readonly string[], standIns: string): string {
  const from = JSON.stringify(specifier);
  const exported = names.map((name, at) => {
    const key = JSON.stringify(name);
    return `const value${at} = ${key} in all ? all[${key}] : missing(${from}, ${key}); export { value${at} as ${name} };`;
  });
  return [
    `import * as all from ${from};`,
    `import { missing } from ${JSON.stringify(standIns)};`,
    ...exported,
  ].join("\n");
}

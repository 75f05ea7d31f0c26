/**
 * Names that a module imports. TypeScript drops imports of types when it compiles, but stripping types keeps them, and Node refuses
 * to import a name that is not exported. So an import of TypeScript gets a module in between, which has all requested names.
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
 * Names that a source without types imports, by specifier; an empty list where all imports were types. It may also match imports in
 * comments, but never misses one.
 */
export function importedNames(text: string): ReadonlyMap<string, readonly string[]> {
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

/** Whether the braces are empty, and the module is imported nowhere else. */
const isOnlyTypes = (text: string, inBraces: string | undefined, specifier: string): boolean =>
  inBraces !== undefined &&
  [`"${specifier}"`, `'${specifier}'`].flatMap((quoted) => text.split(quoted).slice(1)).length === 1;

/** Source of a module that re-exports another one and adds stand-ins for names that it lacks. */
export function textWithNames(specifier: string, names: readonly string[], standIns: string): string {
  const from = JSON.stringify(specifier);
  const exported = names.map((name, at) => {
    const key = JSON.stringify(name);
    return `const value${at} = ${key} in all ? all[${key}] : missing(${from}, ${key}); export { value${at} as ${name} };`;
  });
  return [
    `import * as all from ${from};`,
    // For `import *` of the same module.
    `export * from ${from};`,
    `import { missing } from ${JSON.stringify(standIns)};`,
    ...exported,
  ].join("\n");
}

/**
 * Loads Node's own modules without reading what nothing uses. An `import` reads every export of such a module, and some exports load more
 * modules when they are read: those of `node:process` open streams, and those of `node:http` load a whole client. Each costs a process
 * milliseconds and memory when it starts.
 */
import { isBuiltin } from "node:module";
import type { Plugin } from "rolldown";

/** An import of a module by name, as the bundler writes it: with a default, with names, or with both. */
const imports = /^import (?:([\w$]+)(?:, )?)?(?:\{ ([^}]*) \})? ?from "([^"]+)";$/gm;

/** Source that takes the same values from a module of Node. Namespaces (`* as`) and other modules are not changed. */
export const withoutBuiltinImports = (code: string): string =>
  code.replaceAll(imports, (text, whole: string | undefined, names: string | undefined, module: string) => {
    if (!isBuiltin(module)) return text;
    const value = `process.getBuiltinModule(${JSON.stringify(module)})`;
    const listed = names?.split(", ").map((name) => name.split(" as ")) ?? [];
    const wholes = [whole, ...listed.flatMap(([name, alias]) => (name === "default" ? [alias] : []))];
    const parts = listed.filter(([name]) => name !== "default").map((pair) => pair.join(": "));
    const targets = [
      ...wholes.filter((name) => name !== undefined),
      ...(parts.length > 0 ? [`{ ${parts.join(", ")} }`] : []),
    ];
    return `const ${targets.map((target) => `${target} = ${value}`).join(", ")};`;
  });

/** The plugin. Lines stay the same. */
export const partsOfBuiltins: Plugin = {
  name: "denrei:builtins",
  renderChunk: (code) => ({ code: withoutBuiltinImports(code), map: null }),
};

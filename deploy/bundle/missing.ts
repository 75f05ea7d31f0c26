/** Imports that cannot be resolved: optional packages that are not installed, and mistakes. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ExpectedError } from "denrei/runtime";
import type { RolldownLog } from "rolldown";

/** An import of a package that is not installed. */
export interface MissingImport {
  readonly name: string;
  readonly importer: string;
}

/** The import that a message of the bundler is about, if it is about one that cannot be resolved. */
export function missingImports({ code, id, message }: RolldownLog): readonly MissingImport[] {
  const name = /Could not resolve '([^']+)'/.exec(message)?.[1];
  return code === "UNRESOLVED_IMPORT" && name !== undefined ? [{ name, importer: id ?? "" }] : [];
}

/**
 * Throws an `ExpectedError` for missing packages. Those that a package declares as optional may be missing, and installed packages may
 * import what they do without.
 */
export function expectAll(missing: readonly MissingImport[]): void {
  const needed = missing.filter((one) => !/[\\/]node_modules[\\/]/.test(one.importer) && !isOptional(one));
  if (needed.length === 0) return;
  const lines = needed.map(({ name, importer }) => `  ${name}, imported by ${importer}`);
  throw new ExpectedError(
    `some packages are not installed:\n${lines.join("\n")}\nInstall them, or declare them as optional peer dependencies.`,
  );
}

function isOptional({ name, importer }: MissingImport): boolean {
  for (let folder = dirname(importer); folder !== dirname(folder); folder = dirname(folder)) {
    const path = join(folder, "package.json");
    if (!existsSync(path)) continue;
    const { peerDependenciesMeta = {} } = JSON.parse(readFileSync(path, "utf8")) as {
      readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
    };
    return Object.entries(peerDependenciesMeta).some(
      ([peer, { optional }]) => optional === true && (name === peer || name.startsWith(`${peer}/`)),
    );
  }
  return false;
}

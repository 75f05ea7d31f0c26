/** Import rules: functions import only the bus, and the product never imports tests. */
/** Import rules: packages import each other in one direction and by name, and the product never imports tests. */
import { isBuiltin } from "node:module";
import { posix } from "node:path";

/** A file; `path` is relative to the repository's root, with slashes. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** An import that breaks a rule. */
export interface Violation {
  readonly path: string;
  readonly line: number;
  readonly specifier: string;
  readonly problem: string;
}

/** A `package.json`: that of a package in a folder, or of the repository. */
export interface Manifest {
  readonly folder: string;
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/** Folders of packages, innermost first, and which others each may import. The rest of `test` is no package. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  "bus/create": ["bus"],
  bus: [],
  functions: ["bus"],
  dashboard: ["functions", "bus"],
  "deploy/simulators": ["deploy", "functions", "bus"],
  deploy: ["dashboard", "functions", "bus"],
  "test/ket": ["deploy/simulators", "deploy", "bus"],
  test: ["test/ket", "deploy/simulators", "deploy", "dashboard", "functions", "bus"],
};

/** Entry points of `denrei` for authors: the built-in functions use no others. */
const forAuthors = ["denrei", "denrei/github", "denrei/kinds", "denrei/project", "denrei/values"];

/** Files that a system of functions may import from another one. */
const exceptions: Readonly<Record<string, readonly string[]>> = {
  "functions/paas": ["functions/ghapp/apitoken.ts"],
  "functions/pipecd": ["functions/paas/kinds/remotesync.ts"],
};

/** Files at the root that every folder may import. */
const importableByAll = ["package.json"];

/** Every violation, in the order of the files. */
export const violations = (files: readonly SourceFile[], manifests: readonly Manifest[]): Violation[] =>
  files.flatMap((file) =>
    importsOf(file).flatMap(({ line, specifier }) => {
      const { path } = file;
      const problem = specifier.startsWith(".")
        ? problemOfFile(path, specifier)
        : problemOfPackage(path, specifier, manifests);
      return problem === undefined ? [] : [{ path, line, specifier, problem }];
    }),
  );

/** Formats a violation as one line. */
export const describeViolation = ({ path, line, specifier, problem }: Violation): string =>
  `${path}:${line}: imports "${specifier}": ${problem}`;

/** Import statements at the start of a line, and `import("…")` anywhere. Formatted code has no other form. */
const importPatterns = [
  /^(?:import|export)\b[^"';]*?\bfrom\s*"([^"$]+)"/gm,
  /^import\s*"([^"$]+)"/gm,
  /\bimport\(\s*"([^"$]+)"/g,
];
/** Files that are read or run by URL. */
const filePattern = /\bnew URL\(\s*"([^"$]+)",\s*import\.meta\.url/g;
const comments = /^[ \t]*(?:\/\/|\/?\*).*$/gm;

/** A reference to another file or package. */
export interface Import {
  readonly line: number;
  readonly specifier: string;
  /** `names` for imports, `file` for files that are read or run. */
  readonly of: "names" | "file";
}

/** Every import of a file, by line. */
export function importsOf({ path, text: source }: SourceFile): Import[] {
  const text = source.replace(comments, "");
  const all = (pattern: RegExp, of: Import["of"]): Import[] =>
    [...text.matchAll(pattern)].map(({ index, 1: specifier = "" }) => ({
      line: text.slice(0, index).split("\n").length,
      specifier,
      of,
    }));
  const names = importPatterns.flatMap((pattern) => all(pattern, "names"));
  // A URL is relative even without a dot.
  const relative = all(filePattern, "file").map((one) => ({
    ...one,
    specifier: one.specifier.startsWith(".") ? one.specifier : `./${one.specifier}`,
  }));
  const files = relative.filter(({ specifier }) => folderOf(resolved(path, specifier)) !== undefined);
  return [...names, ...files].sort((a, b) => a.line - b.line);
}

/** The path of a relative import. */
export const resolved = (path: string, specifier: string): string =>
  posix.join(posix.dirname(path), specifier);

/** The folder in {@link mayImport} that contains a file. */
const folderOf = (path: string): string | undefined =>
  path.startsWith("test/") && path.endsWith(".test.ts")
    ? "test"
    : Object.keys(mayImport).find((folder) => path.startsWith(`${folder}/`));

const isTest = (path: string): boolean => path.endsWith(".test.ts") || folderOf(path) === "test";

function problemOfFile(path: string, specifier: string): string | undefined {
  const target = resolved(path, specifier);
  if (target.startsWith("..")) return "it is outside the repository";
  if (importableByAll.includes(target)) return undefined;
  const from = folderOf(path);
  if (from === undefined)
    return `its folder is none of ${Object.keys(mayImport).join(", ")}: add to test/checks/imports.ts what it may import`;
  const to = folderOf(target) ?? target;
  if (from !== to)
    return problemOfFolder(from, to) ?? (isTest(path) ? undefined : "Import it from its package, by name.");
  if (from === "functions") return problemOfSystem(path, target);
  return undefined;
}

function problemOfFolder(from: string, to: string): string | undefined {
  const allowed = mayImport[from] ?? [];
  if (allowed.includes(to)) return undefined;
  return `${from} may import ${[from, ...allowed].join(", ")}, but not ${to}. ${fixFor(to)}`;
}

function problemOfSystem(path: string, target: string): string | undefined {
  const [system, other] = [systemOf(path), systemOf(target)];
  if (system === undefined || system === other) return undefined;
  if (exceptions[`functions/${system}`]?.includes(target)) return undefined;
  return `functions/${system} may not import ${other ? `functions/${other}` : target}. Move shared code to bus/.`;
}

/** The folder of a system of functions; undefined for files directly in `functions/`. */
const systemOf = (path: string): string | undefined => {
  const steps = path.split("/");
  return steps.length > 2 ? steps[1] : undefined;
};

const fixFor = (to: string): string =>
  to === "test"
    ? "Move the shared code out of test/, or move this test to test/."
    : "Pass it in as an argument, or move it to a folder that both may import.";

function problemOfPackage(
  path: string,
  specifier: string,
  manifests: readonly Manifest[],
): string | undefined {
  if (isBuiltin(specifier)) return undefined;
  const name = specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
  const from = folderOf(path) ?? path;
  const own = manifests.find(({ folder }) => folder === from);
  const target = manifests.find((manifest) => manifest.name === name);
  if (target !== undefined) {
    if (isTest(path)) return undefined;
    if (target === own) return "it is part of this project. Import the file.";
    const problem = problemOfFolder(from, target.folder);
    if (problem !== undefined) return problem;
    if (from === "functions" && !forAuthors.includes(specifier))
      return `functions import ${forAuthors.join(", ")}, as everybody's functions do`;
  }
  if (name in { ...own?.dependencies, ...own?.peerDependencies }) return undefined;
  const development = {
    ...own?.devDependencies,
    ...manifests.find(({ folder }) => folder === "")?.devDependencies,
  };
  if (isDevelopment(path) && (name in development || own === undefined)) return undefined;
  return name in development
    ? "it is a devDependency, which installations do not have. Make it a dependency, or import it only in tests."
    : `${from}/package.json does not list it. Install it, or remove the import.`;
}

/** Files that are in no package: tests, the sources of the dashboard's page, and what builds the packages. */
const isDevelopment = (path: string): boolean =>
  isTest(path) || path.startsWith("dashboard/web/") || path.startsWith("deploy/packages/");

/** Import rules: functions import only the bus, and the product never imports tests. */
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

/** Production and development packages. */
export interface Packages {
  /** The name under which other projects import this one. */
  readonly name?: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

/** Top-level folders, and which of them each may import. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  bus: ["bus"],
  functions: ["functions", "bus"],
  dashboard: ["dashboard", "functions", "bus"],
  deploy: ["deploy", "dashboard", "functions", "bus"],
  test: ["test", "deploy", "dashboard", "functions", "bus"],
};

/** Files that a system of functions may import from another one. */
const exceptions: Readonly<Record<string, readonly string[]>> = {
  "functions/paas": ["functions/ghapp/apitoken.ts"],
  "functions/pipecd": ["functions/paas/kinds/remotesync.ts"],
};

/** Programs that stand in for GitHub, kpack, PipeCD, and a login in development. */
const simulators = "deploy/simulators/";

/** Files at the root that every folder may import. */
const importableByAll = ["package.json"];

/** Every violation, in the order of the files. */
export const violations = (files: readonly SourceFile[], packages: Packages): Violation[] =>
  files.flatMap((file) =>
    importsOf(file).flatMap((one) => {
      const { path } = file;
      const { line, specifier } = one;
      const problem = specifier.startsWith(".")
        ? problemOfFile(path, one)
        : problemOfPackage(path, specifier, packages);
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
  const files = all(filePattern, "file").filter(
    ({ specifier }) => topOf(resolved(path, specifier)) in mayImport,
  );
  return [...names, ...files].sort((a, b) => a.line - b.line);
}

/** The path of a relative import. */
export const resolved = (path: string, specifier: string): string =>
  posix.join(posix.dirname(path), specifier);

const topOf = (path: string): string => path.split("/", 1)[0] ?? "";

function problemOfFile(path: string, { specifier, of }: Import): string | undefined {
  const target = resolved(path, specifier);
  if (target.startsWith("..")) return "it is outside the repository";
  if (importableByAll.includes(target)) return undefined;
  const [from, to] = [topOf(path), topOf(target)];
  const allowed = mayImport[from];
  if (allowed === undefined) {
    return `the folder ${from} is none of ${Object.keys(mayImport).join(", ")}: add to test/checks/imports.ts what it may import`;
  }
  if (!allowed.includes(to)) {
    return `${from} may import ${allowed.join(", ")}, but not ${to}. ${fixFor(to)}`;
  }
  if (target.startsWith(simulators) && from === "deploy" && !path.startsWith(simulators) && of === "names")
    return "The image has no simulators. Start the simulator as a process of its own.";
  const [system, other] = [systemOf(path), systemOf(target)];
  if (exceptions[`functions/${system}`]?.includes(target)) return undefined;
  if (from === "functions" && to === "functions" && system !== undefined && system !== other) {
    return `functions/${system} may not import ${other ? `functions/${other}` : target}. Move shared code to bus/.`;
  }
  return undefined;
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
  { name: own, dependencies, devDependencies }: Packages,
): string | undefined {
  if (isBuiltin(specifier)) return undefined;
  const name = specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
  if (name === own)
    return path.startsWith("test/fixtures/project/")
      ? undefined
      : "it is this project's own name. Import the file.";
  if (name in dependencies) return undefined;
  if (!(name in devDependencies)) return "package.json does not list it. Install it, or remove the import.";
  return isProduction(path)
    ? "it is a devDependency, which the image does not have. Make it a dependency, or import it only in tests."
    : undefined;
}

/** The image contains neither tests, nor the page's sources, nor simulators. */
const notInImage = ["test/", "dashboard/web/", "deploy/simulators/"];
const isProduction = (path: string): boolean =>
  !notInImage.some((folder) => path.startsWith(folder)) && !path.endsWith(".test.ts");

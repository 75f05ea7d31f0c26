/** Which way imports may point: functions know the bus and nothing else, and nobody knows a test. */
import { isBuiltin } from "node:module";
import { posix } from "node:path";

/** A file, by its path from the root of the repository, with slashes. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** An import that points the wrong way. */
export interface Violation {
  readonly path: string;
  readonly line: number;
  /** What is imported, as it is written. */
  readonly specifier: string;
  readonly problem: string;
}

/** What is installed in production, and what only with the development tools. */
export interface Packages {
  /** Of the project itself: by it, projects of others know it. */
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

/** What a system of functions offers others, by who may use it. */
const offered: Readonly<Record<string, readonly string[]>> = {
  "functions/paas": ["functions/ghapp/apitoken.ts"],
  "functions/pipecd": ["functions/paas/kinds/remotesync.ts"],
};

/** What stands in for GitHub, kpack, PipeCD and a login in development. */
const simulators = "deploy/simulators/";

/** Files at the root that anybody may read. */
const common = ["package.json"];

/** Every wrong import of the files, in their order. */
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

/** One line for people. */
export const describeViolation = ({ path, line, specifier, problem }: Violation): string =>
  `${path}:${line}: imports "${specifier}": ${problem}`;

/** Statements at the start of a line, and `import("…")` anywhere: the code is formatted, so nothing else occurs. */
const importPatterns = [
  /^(?:import|export)\b[^"';]*?\bfrom\s*"([^"$]+)"/gm,
  /^import\s*"([^"$]+)"/gm,
  /\bimport\(\s*"([^"$]+)"/g,
];
/** A file that is read or run knows its place just as well. */
const filePattern = /\bnew URL\(\s*"([^"$]+)",\s*import\.meta\.url/g;
const comments = /^[ \t]*(?:\/\/|\/?\*).*$/gm;

/** Something that a file names. */
export interface Import {
  readonly line: number;
  readonly specifier: string;
  /** Whether its names are known here, or it is a file that is read or run. */
  readonly of: "names" | "file";
}

/** Every import of a file, in their order. */
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

/** The path that a relative import of a file means. */
export const resolved = (path: string, specifier: string): string =>
  posix.join(posix.dirname(path), specifier);

const topOf = (path: string): string => path.split("/", 1)[0] ?? "";

function problemOfFile(path: string, { specifier, of }: Import): string | undefined {
  const target = resolved(path, specifier);
  if (target.startsWith("..")) return "it lies outside of the repository";
  if (common.includes(target)) return undefined;
  const [from, to] = [topOf(path), topOf(target)];
  const allowed = mayImport[from];
  if (allowed === undefined) {
    return `expected one of ${Object.keys(mayImport).join(", ")}, found the folder ${from}: say in test/checks/imports.ts what it may import`;
  }
  if (!allowed.includes(to)) {
    return `${from} may import ${allowed.join(", ")}, but not ${to}. ${whatToDo(from, to)}`;
  }
  if (target.startsWith(simulators) && from === "deploy" && !path.startsWith(simulators) && of === "names")
    return "The image has no simulators. Start the simulator as a process of its own.";
  const [system, other] = [systemOf(path), systemOf(target)];
  if (offered[`functions/${system}`]?.includes(target)) return undefined;
  if (from === "functions" && to === "functions" && system !== undefined && system !== other) {
    return `functions/${system} may not know ${other ? `functions/${other}` : target}. Move what both need to bus/.`;
  }
  return undefined;
}

/** The folder of a function; the index of all functions lies in none. */
const systemOf = (path: string): string | undefined => {
  const steps = path.split("/");
  return steps.length > 2 ? steps[1] : undefined;
};

const whatToDo = (from: string, to: string): string =>
  to === "test"
    ? "What a test and others need belongs to the others, or the test to test/."
    : `Pass it in from whoever starts ${from}, or move it to a folder that both may know.`;

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
      : "it is this project, as others know it. Import the file itself.";
  if (name in dependencies) return undefined;
  if (!(name in devDependencies)) return "package.json does not name it. Install it, or do without.";
  return isProduction(path)
    ? "it is a devDependency, which the image does not have. Make it a dependency, or import it in tests only."
    : undefined;
}

/** The image contains neither tests, nor the page's sources, nor simulators. */
const notInImage = ["test/", "dashboard/web/", "deploy/simulators/"];
const isProduction = (path: string): boolean =>
  !notInImage.some((folder) => path.startsWith(folder)) && !path.endsWith(".test.ts");

/** Prints the time per folder and the slowest files after a run of many files, so that growth is seen. */
import { relative, sep } from "node:path";
import type { Reporter, TestModule, Vitest } from "vitest/node";

/** How long one file took. Seconds. */
export interface FileTime {
  readonly path: string;
  readonly tests: number;
  /** Imports, hooks, and tests. */
  readonly total: number;
  /** Imports and hooks. */
  readonly setUp: number;
}

const slowest = 20;
/** A smaller run shows the time of each file anyway. */
const fewFiles = 20;

export default class Durations implements Reporter {
  #root = "";

  onInit(vitest: Vitest): void {
    this.#root = vitest.config.root;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const lines = durationLines(modules.map((module) => timeOf(module, this.#root)));
    if (lines.length === 0) return;
    // After the summary of the default reporter.
    process.on("exit", () => process.stdout.write(`\n${lines.join("\n")}\n\n`));
  }
}

/** The time per folder and the slowest files; empty for a run of a few files. */
export function durationLines(files: readonly FileTime[]): string[] {
  if (files.length <= fewFiles) return [];
  const folders = [...Map.groupBy(files, ({ path }) => folderOf(path))].map(([path, group]) =>
    totalOf(path, group),
  );
  return [
    row("folder", "files", "tests", "seconds", "set-up"),
    ...[...bySize(folders), totalOf("all", files)].map((folder) =>
      row(folder.path, String(folder.files), ...cellsOf(folder)),
    ),
    "",
    row("slowest files", "", "tests", "seconds", "set-up"),
    ...bySize(files)
      .slice(0, slowest)
      .map((file) => row(file.path, "", ...cellsOf(file))),
  ];
}

const totalOf = (path: string, files: readonly FileTime[]) => ({
  path,
  files: files.length,
  tests: sum(files, "tests"),
  total: sum(files, "total"),
  setUp: sum(files, "setUp"),
});

const bySize = <T extends FileTime>(rows: readonly T[]): T[] => rows.toSorted((a, b) => b.total - a.total);

const cellsOf = ({ tests, total, setUp }: FileTime): string[] => [
  String(tests),
  total.toFixed(1),
  setUp.toFixed(1),
];

function timeOf(module: TestModule, root: string): FileTime {
  const { collectDuration, setupDuration, duration } = module.diagnostic();
  const tests = [...module.children.allTests()];
  const inTests = tests.reduce((total, test) => total + (test.diagnostic()?.duration ?? 0), 0);
  const total = collectDuration + setupDuration + duration;
  return {
    path: relative(root, module.moduleId).replaceAll(sep, "/"),
    tests: tests.length,
    total: total / 1000,
    // Tests of a file can run side by side.
    setUp: Math.max(0, total - inTests) / 1000,
  };
}

/** `test/e2e`, and for product folders the first part: `bus`. */
function folderOf(path: string): string {
  const parts = path.split("/");
  return parts.slice(0, parts[0] === "test" ? 2 : 1).join("/");
}

const sum = (files: readonly FileTime[], field: "tests" | "total" | "setUp"): number =>
  files.reduce((total, file) => total + file[field], 0);

const row = (path: string, ...cells: readonly string[]): string =>
  `${path.padEnd(48)}${cells.map((cell) => cell.padStart(9)).join("")}`;

/** Prints the time per folder and the slowest files after a run of many files, so that growth is seen. */
import { relative, sep } from "node:path";
import type { Reporter, TestModule, Vitest } from "vitest/node";

/** How long one file took. Seconds. */
interface FileTime {
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
    if (modules.length <= fewFiles) return;
    const times = modules.map((module) => timeOf(module, this.#root));
    const folders = [...Map.groupBy(times, ({ path }) => folderOf(path))].map(([folder, files]) => ({
      path: folder,
      files: files.length,
      tests: sum(files, "tests"),
      total: sum(files, "total"),
      setUp: sum(files, "setUp"),
    }));
    const bySize = <T extends FileTime>(rows: readonly T[]): T[] =>
      rows.toSorted((a, b) => b.total - a.total);
    const all = {
      path: "all",
      files: times.length,
      tests: sum(times, "tests"),
      total: sum(times, "total"),
      setUp: sum(times, "setUp"),
    };
    const lines = [
      row("folder", "files", "tests", "seconds", "set-up"),
      ...[...bySize(folders), all].map(({ path, files, tests, total, setUp }) =>
        row(path, String(files), String(tests), seconds(total), seconds(setUp)),
      ),
      "",
      row("slowest files", "", "tests", "seconds", "set-up"),
      ...bySize(times)
        .slice(0, slowest)
        .map(({ path, tests, total, setUp }) => row(path, "", String(tests), seconds(total), seconds(setUp))),
    ];
    // After the summary of the default reporter.
    process.on("exit", () => process.stdout.write(`\n${lines.join("\n")}\n\n`));
  }
}

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

/** `test/e2e`, and of the product's folders the first part: `bus`. */
function folderOf(path: string): string {
  const parts = path.split("/");
  return parts.slice(0, parts[0] === "test" ? 2 : 1).join("/");
}

const sum = (files: readonly FileTime[], field: "tests" | "total" | "setUp"): number =>
  files.reduce((total, file) => total + file[field], 0);

const seconds = (value: number): string => value.toFixed(1);

const row = (path: string, ...cells: readonly string[]): string =>
  `${path.padEnd(48)}${cells.map((cell) => cell.padStart(9)).join("")}`;

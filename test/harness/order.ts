/** The order of test files. Long files run first, so that the run does not end with one busy worker process and idle others. */
import { stat } from "node:fs/promises";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Most files below this size have many tests in other modules. Bytes. */
const leastOwnTests = 1600;

/** Vitest's order (by the duration of earlier runs, else by size), with the smallest files moved to the front. */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sizes = await Promise.all(files.map(async ({ moduleId }) => (await stat(moduleId)).size));
    const small = new Set(files.filter((_, at) => (sizes[at] ?? 0) < leastOwnTests));
    const group = ({ project }: TestSpecification) => project.config.sequence.groupOrder;
    const rank = (file: TestSpecification) => (small.has(file) ? 0 : 1);
    // Keeps the order of the others.
    return (await super.sort(files)).sort((a, b) => group(a) - group(b) || rank(a) - rank(b));
  }
}

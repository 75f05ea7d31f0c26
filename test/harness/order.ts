/** The order of test files: those that take long first, so that no worker process is left with one at the end. */
import { stat } from "node:fs/promises";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Most smaller files have their tests in other modules, and many of them. Bytes. */
const leastOwnTests = 1600;

/** As Vitest orders files, which is by what is known of earlier runs or else by size; but the smallest ones go first. */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sizes = await Promise.all(files.map(async ({ moduleId }) => (await stat(moduleId)).size));
    const small = new Set(files.filter((_, at) => (sizes[at] ?? 0) < leastOwnTests));
    const group = ({ project }: TestSpecification) => project.config.sequence.groupOrder;
    const rank = (file: TestSpecification) => (small.has(file) ? 0 : 1);
    // The order of the others stays.
    return (await super.sort(files)).sort((a, b) => group(a) - group(b) || rank(a) - rank(b));
  }
}

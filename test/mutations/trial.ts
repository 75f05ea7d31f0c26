/** The trial of one mutation: applied, tested, and reverted. */
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Mutation, mutated, occurrencesIn } from "./mutation.ts";
import { type RunLimits, runTestFile } from "./run.ts";
import type { Scratch } from "./scratch.ts";

/** The outcome of a mutation. */
export interface Result {
  readonly area: string;
  readonly name: string;
  readonly outcome: "caught" | "survived" | "not applicable" | "error";
  /** The test that caught it, or the reason for a missing verdict. */
  readonly by?: string;
  /** The file of that test. */
  readonly file?: string;
  readonly millis: number;
}

type Verdict = Pick<Result, "outcome" | "by" | "file">;

/** Options of a trial. */
export interface TrialOptions extends RunLimits {
  /** A revision other than the present one need not contain the mutation's text or its tests. */
  readonly revision: "present" | "other";
  /** Whether the file that caught it must pass without it: on a busy machine a test may fail by itself. */
  readonly confirm: boolean;
}

/** Tries a mutation. */
export async function tryMutation(
  scratch: Scratch,
  area: string,
  mutation: Mutation,
  options: TrialOptions,
): Promise<Result> {
  const started = performance.now();
  let verdict = await verdictOn(scratch, mutation, options);
  if (options.confirm && verdict.outcome === "caught" && verdict.file !== undefined) {
    const { outcome } = await runTestFile(scratch, verdict.file, options);
    if (outcome !== "passed")
      verdict = {
        ...verdict,
        outcome: "error",
        by: `the file fails without the mutation as well: ${verdict.by}`,
      };
  }
  return { area, name: mutation.name, ...verdict, millis: Math.round(performance.now() - started) };
}

async function verdictOn(
  scratch: Scratch,
  mutation: Mutation,
  { revision, ...limits }: TrialOptions,
): Promise<Verdict> {
  const { checkout } = scratch;
  const path = join(checkout, mutation.file);
  const before = existsSync(path) ? await readFile(path, "utf8") : "";
  if (revision === "other" && occurrencesIn(before, mutation) !== 1)
    return { outcome: "not applicable", by: `${mutation.file} differs in that revision` };
  const tests = mutation.tests.filter((file) => existsSync(join(checkout, file)));
  if (tests.length === 0)
    return { outcome: "not applicable", by: "none of its test files exists in that revision" };
  await writeFile(path, mutated(before, mutation));
  try {
    return await firstCatch(scratch, tests, limits);
  } finally {
    await writeFile(path, before);
  }
}

/** Runs the files one after another, the cheapest first, until one fails. */
async function firstCatch(
  scratch: Scratch,
  tests: readonly string[],
  { limitMillis, signal }: RunLimits,
): Promise<Verdict> {
  const end = performance.now() + limitMillis;
  for (const file of tests) {
    const left = Math.max(0, Math.round(end - performance.now()));
    const run = await runTestFile(scratch, file, { limitMillis: left, signal });
    switch (run.outcome) {
      case "failed":
        return { outcome: "caught", by: run.by, file };
      case "timed out":
        return { outcome: "caught", by: "timeout", file };
      case "no test ran":
        return { outcome: "error", by: `no test ran:\n${run.output}`, file };
    }
  }
  return { outcome: "survived" };
}

/** Runs the test files of mutations without any of them. Resolves with the problem, or undefined. */
export async function verify(
  scratch: Scratch,
  mutations: readonly Mutation[],
  limits: RunLimits,
): Promise<string | undefined> {
  const files = new Set(mutations.flatMap(({ tests }) => tests));
  for (const file of files) {
    if (!existsSync(join(scratch.checkout, file))) continue;
    const run = await runTestFile(scratch, file, limits);
    if (run.outcome === "passed") continue;
    const why =
      "by" in run ? `failed: ${run.by}` : "output" in run ? `no test ran:\n${run.output}` : run.outcome;
    return `${file} does not pass without a mutation (${why})`;
  }
  return undefined;
}

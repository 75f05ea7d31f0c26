/** Runs one test file in the scratch copy. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { open, readFile, rm } from "node:fs/promises";
import { delimiter, dirname, join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { Scratch } from "./scratch.ts";

/** The outcome of a run. `no test ran` includes vitest's output as the reason. */
export type TestRun =
  | { readonly outcome: "passed" }
  | { readonly outcome: "failed"; readonly by: string }
  | { readonly outcome: "timed out" }
  | { readonly outcome: "no test ran"; readonly output: string };

/** How long a run may take. */
export interface RunLimits {
  readonly limitMillis: number;
  /** Kills the run; the call then rejects with the signal's reason. */
  readonly signal: AbortSignal;
}

/** The parts of vitest's JSON report that matter here: https://vitest.dev/guide/reporters#json-reporter */
const reportSchema = z.object({
  numPassedTests: z.int(),
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      message: z.string().optional(),
      assertionResults: z.array(z.object({ fullName: z.string(), status: z.string() })),
    }),
  ),
});
type Report = z.infer<typeof reportSchema>;

/** After SIGTERM, processes have this long to end what they started. Milliseconds. */
const graceMillis = 5000;
const outputBytes = 4000;

/** Runs a test file up to its first failure. */
export async function runTestFile(scratch: Scratch, file: string, limits: RunLimits): Promise<TestRun> {
  const { checkout, temporary } = scratch;
  const [reportPath, outputPath] = [join(temporary, "report.json"), join(temporary, "output.txt")];
  await rm(reportPath, { force: true });
  const output = await open(outputPath, "w");
  // A process group, so that everything the tests have started ends with it.
  const child = spawn(
    process.execPath,
    [
      join("node_modules", "vitest", "vitest.mjs"),
      ...["run", "--bail", "1", "--reporter", "json", "--outputFile", reportPath, file],
    ],
    {
      cwd: checkout,
      detached: true,
      stdio: ["ignore", output.fd, output.fd],
      env: {
        ...process.env,
        TMPDIR: temporary,
        PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
      },
    },
  );
  const exited = once(child, "exit");
  const late = AbortSignal.timeout(limits.limitMillis);
  const stop = AbortSignal.any([limits.signal, late]);
  const stopped = once(stop, "abort");
  if (!stop.aborted) await Promise.race([exited, stopped]);
  const isOver = child.exitCode !== null || child.signalCode !== null;
  if (!isOver) {
    kill(child.pid, "SIGTERM");
    await Promise.race([exited, sleep(graceMillis)]);
  }
  kill(child.pid, "SIGKILL");
  const [code] = await exited;
  await output.close();
  limits.signal.throwIfAborted();
  if (!isOver) return { outcome: "timed out" };
  const report = await reportIn(reportPath);
  const by = report && firstFailure(report, checkout);
  if (by !== undefined) return { outcome: "failed", by };
  if (!report?.numPassedTests)
    return { outcome: "no test ran", output: (await readFile(outputPath, "utf8")).slice(-outputBytes) };
  return code === 0 ? { outcome: "passed" } : { outcome: "failed", by: "an unhandled error" };
}

async function reportIn(path: string): Promise<Report | undefined> {
  try {
    return reportSchema.parse(JSON.parse(await readFile(path, "utf8")));
  } catch {
    return undefined;
  }
}

/** The first failed test, or the file that failed as a whole. */
function firstFailure({ testResults }: Report, checkout: string): string | undefined {
  for (const { name, status, message, assertionResults } of testResults) {
    const failed = assertionResults.find((result) => result.status === "failed");
    if (failed) return `"${failed.fullName.trim()}"`;
    if (status === "failed")
      return `${relative(checkout, name)}: ${message?.trim().split("\n")[0] ?? "failed"}`;
  }
  return undefined;
}

function kill(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    // The group has ended.
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** `denrei demo` and `denrei up`. */
import { report, say, UsageError } from "denrei/runtime";
import { functionNames } from "../named.ts";
import { openTerminal } from "../terminal.ts";
import { dashboardDemo } from "./dashboarddemo.ts";
import type { Demo, DemoOptions } from "./definition.ts";
import type { DemoEnvironment } from "./environment.ts";
import { githubDemo } from "./githubdemo.ts";
import { paasDemo } from "./paasdemo.ts";
import { pipecdDemo } from "./pipecddemo.ts";
import { projectRun } from "./projectrun.ts";
import { songDemo } from "./songdemo.ts";
import { startDemoEnvironment } from "./startenvironment.ts";

/** Starts everything, shows the demo, and ends (`demo`) or stays until Ctrl-C (`up`). Throws a `UsageError`. */
export async function demo(options: DemoOptions): Promise<void> {
  const { parts, run } = await demoOf(options);
  const { display, print, stopping } = openTerminal();
  const { signal } = stopping;
  const rights = options.ownRights ? "own" : "generated";
  let environment: DemoEnvironment | undefined;
  try {
    environment = await startDemoEnvironment({ parts, rights, display, say: print, signal });
    await run(environment, display, signal);
    if (!signal.aborted) say("\nStopping everything.");
  } catch (error) {
    if (!signal.aborted) await report(error);
  }
  await environment?.stop();
  process.exit();
}

/** The demo. Throws a `UsageError` in a project without the functions that it shows. */
async function demoOf(options: DemoOptions): Promise<Demo> {
  const hasExamples = (await functionNames()).includes("hikawa");
  if (hasExamples) return demos[options.name](options);
  if (options.mode === "up") return projectRun(options);
  throw new UsageError(
    "denrei demo shows Denrei's own functions, which this project does not have. Run yours with denrei dev or denrei up",
  );
}

const demos: Readonly<Record<DemoOptions["name"], (options: DemoOptions) => Demo>> = {
  song: songDemo,
  github: githubDemo,
  paas: paasDemo,
  pipecd: pipecdDemo,
  dashboard: dashboardDemo,
};

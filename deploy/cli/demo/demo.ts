/** `denrei demo` and `denrei up` */

import { report } from "../explain.ts";
import { say } from "../output.ts";
import { openTerminal } from "../terminal.ts";
import type { Act, DemoOptions } from "./act.ts";
import { dashboardAct } from "./dashboarddemo.ts";
import { githubAct } from "./githubdemo.ts";
import { paasAct } from "./paasdemo.ts";
import { pipecdAct } from "./pipecddemo.ts";
import { songAct } from "./songdemo.ts";
import { type Stage, setStage } from "./stage.ts";

/** Starts everything, plays the act, and ends (`demo`) or stays until Ctrl-C (`up`). Throws a `UsageError`. */
export async function demo(options: DemoOptions): Promise<void> {
  const act = acts[options.act](options);
  const { display, tell, stopping } = openTerminal();
  const { signal } = stopping;
  let stage: Stage | undefined;
  try {
    stage = await setStage({ cast: act.cast, display, say: tell, signal });
    await act.play(stage, display, signal);
    if (!signal.aborted) say("\nStopping everything.");
  } catch (error) {
    if (!signal.aborted) await report(error);
  }
  await stage?.stop();
  process.exit();
}

const acts: Readonly<Record<DemoOptions["act"], (options: DemoOptions) => Act>> = {
  song: songAct,
  github: githubAct,
  paas: paasAct,
  pipecd: pipecdAct,
  dashboard: dashboardAct,
};

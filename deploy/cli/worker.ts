/** `denrei worker` */
import { type AccountSettings, busOptionsOf, runProcess } from "../../bus/process/run.ts";
import { startWorker } from "../../bus/worker/worker.ts";
import { functionsNamed } from "./named.ts";

/** Runs functions until a stop signal. */
export async function worker(names: readonly string[], settings: AccountSettings): Promise<void> {
  const functions = await functionsNamed(names);
  return runProcess("worker", settings, (context) =>
    startWorker({ ...context, ...settings, busOptions: busOptionsOf(settings), functions }),
  );
}

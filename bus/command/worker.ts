/** `denrei worker` */
import { type AccountSettings, busOptionsOf, runProcess } from "../process/run.ts";
import { openProject } from "../project/project.ts";
import { startWorker } from "../worker/worker.ts";

/** Runs functions until a stop signal. */
export async function worker(names: readonly string[], settings: AccountSettings): Promise<void> {
  const project = await openProject();
  const functions = await project.load(names);
  return runProcess("worker", settings, (context) =>
    startWorker({ ...context, ...settings, busOptions: busOptionsOf(settings, project), functions }),
  );
}

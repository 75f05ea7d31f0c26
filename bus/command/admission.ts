/** `denrei admission` */
import { startAdmission } from "../admission/server.ts";
import type { Settings } from "../config/config.ts";
import { runStandalone } from "../process/run.ts";
import { openProject } from "../project/project.ts";
import { definedKinds } from "../worker/definedkinds.ts";
import type { ReconcileFunction } from "../worker/function.ts";

/** Runs the webhook for the kinds of these functions, by default those of the project, until a stop signal. */
export async function admission(
  settings: Settings<
    "replica" | "httpAddress" | "logLevel" | "admissionAddress" | "admissionCert" | "admissionKey"
  >,
  of?: readonly ReconcileFunction[],
): Promise<void> {
  const kinds = definedKinds(of ?? (await (await openProject()).all()));
  await runStandalone("admission", settings, (context) => startAdmission({ ...context, ...settings, kinds }));
}

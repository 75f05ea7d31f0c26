/** `denrei admission` */
import { startAdmission } from "../../bus/admission/server.ts";
import type { Settings } from "../../bus/config/config.ts";
import { runStandalone } from "../../bus/process/standalone.ts";
import { definedKinds, type ReconcileFunction } from "../../bus/worker/function.ts";

/** Runs the webhook for the kinds of these functions until a stop signal. */
export const admission = (
  settings: Settings<
    "replica" | "httpAddress" | "logLevel" | "admissionAddress" | "admissionCert" | "admissionKey"
  >,
  functions: readonly ReconcileFunction[],
): Promise<void> =>
  runStandalone("admission", settings, (context) =>
    startAdmission({ ...context, ...settings, kinds: definedKinds(functions) }),
  );

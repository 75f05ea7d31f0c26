/** The runbooks of docs/operations.md. The build of the page fills in this module: dashboard/web/runbooks.ts. */
import type { Runbook } from "./runbook.ts";

export const runbooks: readonly Runbook[] = [];

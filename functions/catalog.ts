/** Module of each function by name. A worker loads only the functions that it runs. */
import type { ReconcileFunction } from "../bus/worker/function.ts";

export const catalog: Readonly<Record<string, () => Promise<{ readonly default: ReconcileFunction }>>> = {
  hikawa: () => import("./zundoko/hikawa.ts"),
  githubapp: () => import("./ghapp/githubapp.ts"),
  clustergithubapp: () => import("./ghapp/clustergithubapp.ts"),
  installation: () => import("./ghapp/installation.ts"),
  "modoki-application": () => import("./paas/application.ts"),
  "modoki-remotesync": () => import("./paas/remotesync.ts"),
  "modoki-apppipeline": () => import("./paas/apppipeline.ts"),
  "modoki-report": () => import("./paas/report.ts"),
  "pipecd-minio": () => import("./pipecd/minio.ts"),
  "pipecd-mongo": () => import("./pipecd/mongo.ts"),
  "pipecd-mysql": () => import("./pipecd/mysql.ts"),
  "pipecd-controlplane": () => import("./pipecd/controlplane.ts"),
  "pipecd-environment": () => import("./pipecd/environment.ts"),
  "pipecd-piped": () => import("./pipecd/piped.ts"),
  "pipecd-application": () => import("./pipecd/application.ts"),
  "pipecd-eventregistration": () => import("./pipecd/eventregistration.ts"),
};

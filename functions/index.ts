/** Every function of this project, by name. */
import type { ReconcileFunction } from "../bus/worker/function.ts";
import clustergithubapp from "./ghapp/clustergithubapp.ts";
import githubapp from "./ghapp/githubapp.ts";
import installation from "./ghapp/installation.ts";
import application from "./paas/application.ts";
import apppipeline from "./paas/apppipeline.ts";
import remotesync from "./paas/remotesync.ts";
import report from "./paas/report.ts";
import pipecdApplication from "./pipecd/application.ts";
import pipecdControlPlane from "./pipecd/controlplane.ts";
import pipecdEnvironment from "./pipecd/environment.ts";
import pipecdMinio from "./pipecd/minio.ts";
import pipecdMongo from "./pipecd/mongo.ts";
import pipecdMysql from "./pipecd/mysql.ts";
import pipecdPiped from "./pipecd/piped.ts";
import hikawa from "./zundoko/hikawa.ts";

export const functions: readonly ReconcileFunction[] = [
  hikawa,
  githubapp,
  clustergithubapp,
  installation,
  application,
  remotesync,
  apppipeline,
  report,
  pipecdMinio,
  pipecdMongo,
  pipecdMysql,
  pipecdControlPlane,
  pipecdEnvironment,
  pipecdPiped,
  pipecdApplication,
];

/**
 * `@denrei/functions/components`: the components of Denrei, and the modules of their functions, for `denrei.config.ts`. A worker
 * loads only the functions that it runs.
 *
 * @packageDocumentation
 */
import type { Component } from "denrei/project";

/** Hikawa says words until Kiyoshi: the smallest example. */
export const zundoko: Component = {
  name: "zundoko",
  functions: { hikawa: () => import("./zundoko/hikawa.ts") },
};

/** Tokens of GitHub Apps in Secrets. */
export const ghapp: Component = {
  name: "ghapp",
  functions: {
    githubapp: () => import("./ghapp/githubapp.ts"),
    clustergithubapp: () => import("./ghapp/clustergithubapp.ts"),
    installation: () => import("./ghapp/installation.ts"),
  },
};

/** Applications, their images, and previews of pull requests. */
export const paas: Component = {
  name: "paas",
  functions: {
    "modoki-application": () => import("./paas/application.ts"),
    "modoki-remotesync": () => import("./paas/remotesync.ts"),
    "modoki-apppipeline": () => import("./paas/apppipeline.ts"),
    "modoki-report": () => import("./paas/report.ts"),
  },
};

/** PipeCD control planes, and what they deploy. */
export const pipecd: Component = {
  name: "pipecd",
  functions: {
    "pipecd-minio": () => import("./pipecd/minio.ts"),
    "pipecd-mongo": () => import("./pipecd/mongo.ts"),
    "pipecd-mysql": () => import("./pipecd/mysql.ts"),
    "pipecd-controlplane": () => import("./pipecd/controlplane.ts"),
    "pipecd-environment": () => import("./pipecd/environment.ts"),
    "pipecd-piped": () => import("./pipecd/piped.ts"),
    "pipecd-application": () => import("./pipecd/application.ts"),
    "pipecd-eventregistration": () => import("./pipecd/eventregistration.ts"),
  },
};

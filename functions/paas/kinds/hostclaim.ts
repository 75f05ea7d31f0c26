/** HostClaim: records which Application owns a host. */
import { defineKind, type ObjectOf, z } from "denrei/kinds";
import { group, version } from "../names.ts";
import { age } from "./fields.ts";

/**
 * Records which Application owns a host. It is cluster-scoped and its name follows from the host, so the API server creates at
 * most one per host, however many workers try at once.
 */
export const HostClaim = defineKind({
  group,
  version,
  kind: "HostClaim",
  scope: "Cluster",
  description:
    "Records which Application owns a host, which is the first to claim it. Only modoki-application creates and deletes it.",
  categories: ["modoki"],
  writers: "cluster-admin",
  spec: z.object({
    host: z
      .string()
      .describe("The host. *.example.com matches all hosts of a domain, and * all other hosts."),
    namespace: z.string().describe("Namespace of the Application."),
    application: z.string().describe("Name of the Application."),
    uid: z.string().describe("metadata.uid of the Application. The claim of a deleted Application is void."),
  }),
  columns: [
    { name: "Host", type: "string", jsonPath: ".spec.host" },
    { name: "Namespace", type: "string", jsonPath: ".spec.namespace" },
    { name: "Application", type: "string", jsonPath: ".spec.application" },
    age,
  ],
});
export type HostClaim = ObjectOf<typeof HostClaim>;

/** HostClaim: whose a host is. */
import { z } from "zod";
import { defineKind, type ObjectOf } from "../../../bus/kube/kind.ts";
import { group, version } from "../names.ts";
import { age } from "./fields.ts";

/**
 * Whose a host is. Its name follows from the host and it is in no namespace, so the API server creates one for each host,
 * whatever workers try at once.
 */
export const HostClaim = defineKind({
  group,
  version,
  kind: "HostClaim",
  scope: "Cluster",
  description:
    "Whose a host is: the Application that claimed it first. Made and deleted by modoki-application alone.",
  categories: ["modoki"],
  writers: "cluster-admin",
  spec: z.object({
    host: z.string().describe("The host, *.example.com for those of a domain, or * for all others."),
    namespace: z.string().describe("Namespace of the Application."),
    application: z.string().describe("Its name."),
    uid: z.string().describe("Its metadata.uid. The claim of one that is gone counts for nothing."),
  }),
  columns: [
    { name: "Host", type: "string", jsonPath: ".spec.host" },
    { name: "Namespace", type: "string", jsonPath: ".spec.namespace" },
    { name: "Application", type: "string", jsonPath: ".spec.application" },
    age,
  ],
});
export type HostClaim = ObjectOf<typeof HostClaim>;

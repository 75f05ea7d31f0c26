/** Application: a folder of a repository that PipeCD deploys. */
import { cel, defineKind, type ObjectOf, z } from "denrei/kinds";
import { category, group, version } from "../names.ts";
import {
  age,
  apiKeySecretRef,
  conditions,
  controlPlaneRef,
  environmentRef,
  insecure,
  nonEmpty,
  observedGeneration,
  pipedRef,
  projectID,
  ready,
  synced,
  text,
} from "./fields.ts";

/** Kinds of applications, in PipeCD's spelling. */
export const applicationKinds = [
  "KUBERNETES",
  "TERRAFORM",
  "CROSSPLANE",
  "LAMBDA",
  "CLOUDRUN",
  "ECS",
] as const;
export type ApplicationKind = (typeof applicationKinds)[number];

/** PipeCD's spelling of a kind in any letter case; undefined for an unknown kind. */
export const applicationKindOf = (kind: string): ApplicationKind | undefined =>
  applicationKinds.find((known) => known === kind.toUpperCase());

const kindMessage = "expected Kubernetes, Terraform, Crossplane, Lambda, CloudRun, or ECS";
const pathMessage =
  "expected a folder of the repository: at least two characters, not starting with /. The root is ./";
const providerMessage = "expected at most one of cloudProvider and platformProvider, which are the same";

const registered = z.object({
  name: text,
  projectID: text,
  environmentID: text.optional(),
  pipedID: text,
  repository: text,
  path: text,
  kind: text,
  configFilename: text,
  provider: text,
  // A list, because a merge patch would keep removed plugins of a map.
  deployTargets: z.array(z.object({ plugin: text, names: z.array(text) })).optional(),
});

/** An application in PipeCD. */
export const Application = defineKind({
  group,
  version,
  kind: "Application",
  description: "An application in PipeCD: a folder of a repository that an agent deploys.",
  shortNames: ["papp"],
  categories: [category],
  spec: z
    .object({
      name: nonEmpty.max(50).describe("Name in PipeCD."),
      description: text.optional().describe("Description in PipeCD. Since PipeCD v0.37.1."),
      labels: z.record(z.string(), z.string()).optional().describe("Labels in PipeCD. Since PipeCD v0.37.1."),
      projectID,
      kind: z
        .string()
        .max(32)
        .refine((kind) => applicationKindOf(kind) !== undefined, kindMessage)
        .meta(cel({ rule: `self.matches('^(?i:${applicationKinds.join("|")})$')`, message: kindMessage }))
        .optional()
        .describe(
          "Kubernetes, Terraform, Crossplane, Lambda, CloudRun, or ECS, in any letter case. Required with an agent of PipeCD v0. With v1 it becomes the label kind.",
        ),
      environmentRef: environmentRef.describe("Environment of the application."),
      pipedRef: pipedRef.describe("The agent that deploys it."),
      repository: nonEmpty.describe("The repoId of one of the agent's repositories."),
      path: z
        .string()
        .max(1024)
        .refine((path) => /^[^/].+$/.test(path), pathMessage)
        .meta(cel({ rule: "self.matches('^[^/].+$')", message: pathMessage }))
        .describe("Folder in the repository. The root is ./."),
      configFilename: text
        .optional()
        .describe(
          "Name of the configuration file. Default: .pipe.yaml up to PipeCD v0.9.0, app.pipecd.yaml from v0.37.1.",
        ),
      cloudProvider: text
        .optional()
        .describe("The agent's provider to deploy to. Default: kubernetes-default, which always exists."),
      platformProvider: text.optional().describe("Another name for cloudProvider."),
      deployTargetsByPlugin: z
        .record(z.string().min(1), z.array(nonEmpty).min(1).max(64))
        .optional()
        .describe("Deploy targets for an agent of PipeCD v1: names of targets, by the name of their plugin."),
      insecure,
      controlPlaneRef: controlPlaneRef.optional(),
      apiKeySecretRef: apiKeySecretRef.optional(),
    })
    .refine(
      ({ cloudProvider, platformProvider }) => cloudProvider === undefined || platformProvider === undefined,
      providerMessage,
    )
    .meta(
      cel({ rule: "!(has(self.cloudProvider) && has(self.platformProvider))", message: providerMessage }),
    ),
  status: z.object({
    applicationID: text.optional().describe("Id in PipeCD."),
    pipedID: text.optional().describe("Id in PipeCD of the agent that deploys it."),
    registered: registered.optional().describe("The last registration with PipeCD."),
    registering: registered
      .optional()
      .describe("The registration in progress. No other Application registers at this place."),
    former: z
      .array(z.object({ applicationID: text, registered }))
      .optional()
      .describe("Replaced applications in PipeCD, until they are deleted there."),
    ...synced,
    observedGeneration,
    conditions: conditions("Ready: PipeCD has the current spec."),
  }),
  columns: [
    { name: "Project", type: "string", jsonPath: ".spec.projectID" },
    { name: "App", type: "string", jsonPath: ".spec.name" },
    { name: "Kind", type: "string", jsonPath: ".spec.kind" },
    { name: "ID", type: "string", jsonPath: ".status.applicationID" },
    ready,
    age,
  ],
});
export type Application = ObjectOf<typeof Application>;

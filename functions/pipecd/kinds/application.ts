/** Application: what PipeCD deploys. */
import { z } from "zod";
import { cel } from "../../../bus/kube/crd.ts";
import { defineKind, type ObjectOf } from "../../../bus/kube/kind.ts";
import { category, group, version } from "../names.ts";
import {
  age,
  apiKeySecretRef,
  conditions,
  controlPlaneRef,
  environmentRef,
  filled,
  insecure,
  observedGeneration,
  pipedRef,
  projectID,
  ready,
  synced,
  text,
} from "./fields.ts";

/** What PipeCD can deploy. */
export const applicationKinds = [
  "KUBERNETES",
  "TERRAFORM",
  "CROSSPLANE",
  "LAMBDA",
  "CLOUDRUN",
  "ECS",
] as const;
/** PipeCD's name of what it can deploy. */
export type ApplicationKind = (typeof applicationKinds)[number];

/** PipeCD's name of a kind, however it is written. */
export const applicationKindOf = (kind: string): ApplicationKind | undefined =>
  applicationKinds.find((known) => known === kind.toUpperCase());

const kindMessage = "expected Kubernetes, Terraform, Crossplane, Lambda, CloudRun or ECS";
const pathMessage =
  "expected a folder of the repository, by a path of at least two characters that does not start with /: ./ is the root";
const providerMessage = "expected at most one of cloudProvider, platformProvider: they are the same";

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
  // A list: a merge patch would keep a plugin that is no longer in a map.
  deployTargets: z.array(z.object({ plugin: text, names: z.array(text) })).optional(),
});

/** An application at PipeCD. */
export const Application = defineKind({
  group,
  version,
  kind: "Application",
  description: "An application at PipeCD: a folder of a repository that an agent deploys.",
  shortNames: ["papp"],
  categories: [category],
  spec: z
    .object({
      name: filled.max(50).describe("Its name at PipeCD."),
      description: text.optional().describe("What it is."),
      labels: z
        .record(z.string(), z.string())
        .optional()
        .describe("Its labels at PipeCD. From PipeCD v0.37.1."),
      projectID,
      kind: z
        .string()
        .max(32)
        .refine((kind) => applicationKindOf(kind) !== undefined, kindMessage)
        .meta(cel({ rule: `self.matches('^(?i:${applicationKinds.join("|")})$')`, message: kindMessage }))
        .optional()
        .describe(
          "Kubernetes, Terraform, Crossplane, Lambda, CloudRun or ECS, in any case. Needed unless the agent is PipeCD v1, where it becomes the label kind.",
        ),
      environmentRef: environmentRef.describe("The environment that it is in."),
      pipedRef: pipedRef.describe("The agent that deploys it."),
      repository: filled.describe("A repoId of the agent's repositories."),
      path: z
        .string()
        .max(1024)
        .refine((path) => /^[^/].+$/.test(path), pathMessage)
        .meta(cel({ rule: "self.matches('^[^/].+$')", message: pathMessage }))
        .describe("Its folder in the repository. ./ is the root."),
      configFilename: text
        .optional()
        .describe(
          "Name of its configuration file. Default: .pipe.yaml up to PipeCD v0.9.0, app.pipecd.yaml from v0.37.1.",
        ),
      cloudProvider: text
        .optional()
        .describe("Where it is deployed: a provider of the agent. kubernetes-default is always there."),
      platformProvider: text.optional().describe("Another name of cloudProvider."),
      deployTargetsByPlugin: z
        .record(z.string().min(1), z.array(filled).min(1).max(64))
        .optional()
        .describe(
          "Where an agent of PipeCD v1 deploys it: names of deploy targets, by the name of their plugin.",
        ),
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
    applicationID: text.optional().describe("PipeCD's id of it."),
    pipedID: text.optional().describe("PipeCD's id of the agent that deploys it."),
    registered: registered.optional().describe("What PipeCD was last told."),
    registering: registered
      .optional()
      .describe(
        "What PipeCD is asked to register, until its id is known. No other Application takes its place.",
      ),
    former: z
      .array(z.object({ applicationID: text, registered }))
      .optional()
      .describe("Applications at PipeCD that this one has replaced, until they are deleted there."),
    ...synced,
    observedGeneration,
    conditions: conditions("Ready: PipeCD has it as it is wanted."),
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

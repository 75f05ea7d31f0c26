/** Application: a workload, and the hosts that route to it. */
import { defineKind, listMap, type ObjectOf, z } from "denrei/kinds";
import { group, version } from "../names.ts";
import {
  age,
  conditions,
  objectName,
  observedGeneration,
  optionalName,
  ready,
  resources,
  shortName,
  time,
} from "./fields.ts";
import { hostPattern } from "./hostpattern.ts";
import { imageReference, optionalImageReference } from "./imagereference.ts";
import { env, envFrom } from "./variables.ts";

/** Workload settings of an Application, and of the template of an AppPipeline. */
export const runtime = {
  command: z.array(z.string()).optional().describe("Command of the container."),
  args: z.array(z.string()).optional().describe("Arguments of the container."),
  attributes: z
    .record(z.string(), z.string())
    .optional()
    .describe("Parameters for the chart, which defines their meaning."),
  serviceAccount: optionalName.describe("ServiceAccount of the pods."),
  env: env.optional(),
  envFrom: envFrom.optional(),
  port: z
    .int()
    .min(1)
    .max(65535)
    .optional()
    .describe("Port that the application listens on, also set as the variable PORT. Default: 8080."),
  resources: resources.optional(),
  healthCheck: z
    .object({
      path: z
        .string()
        .regex(/^\//, "Enter a path that begins with a slash.")
        .describe("HTTP path that returns 200 when the application is healthy."),
      initialDelaySeconds: z.int32().min(0).optional(),
      timeoutSeconds: z.int32().min(1).optional(),
    })
    .optional()
    .describe("Health probe. Default: a TCP check of the port."),
} as const;

const resourceSchema = z.object({
  apiVersion: z.string(),
  kind: z.string(),
  name: z.string(),
  namespace: z.string().optional(),
  uid: z.string().optional(),
});

/** A workload, and the hosts that route to it. */
export const Application = defineKind({
  group,
  version,
  kind: "Application",
  description: "A workload, and the hosts that route to it. A chart renders its objects.",
  shortNames: ["mapp"],
  categories: ["modoki"],
  rules: shortName,
  scale: {
    specReplicasPath: ".spec.replicas",
    statusReplicasPath: ".status.replicas",
    labelSelectorPath: ".status.selector",
  },
  spec: z.object({
    domains: z
      .array(
        z
          .string()
          .max(253)
          .regex(hostPattern, "Enter a host name in lowercase, such as web.example.com or *.example.com."),
      )
      .max(500)
      .describe(
        "Hosts that route to the application. Each belongs to the Application that claims it first. If empty, there is no route.",
      ),
    image: optionalImageReference
      .optional()
      .describe("Image of the container. If empty, visitors see a placeholder page."),
    pinnedImage: imageReference
      .optional()
      .describe(
        "Overrides `image`, also when newer images are built. To roll back, set it to an image of status.history.",
      ),
    ...runtime,
    replicas: z.int32().min(0).default(1).describe("Number of pods."),
    imagePullSecret: optionalName.describe("Secret with the credentials to pull the image."),
    imagePullSecrets: z
      .array(z.object({ name: objectName }))
      .optional()
      .meta(listMap("name"))
      .describe("Further Secrets to pull images with. A RemoteSync adds its own."),
  }),
  status: z.object({
    domains: z
      .array(z.string())
      .optional()
      .describe("Hosts of spec.domains that the Application owns and serves."),
    hosts: z
      .array(z.string())
      .optional()
      .describe(
        "Hosts that the Application has claimed or waits for: spec.domains, and hosts that the chart adds.",
      ),
    status: z
      .enum(["progressing", "deployed", "failed", "error"])
      .optional()
      .describe("Summary of the conditions."),
    message: z.string().optional().describe("Why the Application is not deployed."),
    resources: z.array(resourceSchema).optional().describe("Objects of the Application that exist."),
    planned: z
      .array(resourceSchema)
      .optional()
      .describe("Objects that the API server has not accepted yet, or rejects."),
    url: z.string().optional().describe("URL of the application."),
    urls: z.array(z.string()).optional().describe("All URLs of the application."),
    replicas: z.int().min(0).optional().describe("Number of pods."),
    readyReplicas: z.int().min(0).optional().describe("Number of ready pods."),
    selector: z.string().optional().describe("Label selector of the pods, for autoscalers."),
    currentImage: z.string().optional().describe("Image that all pods run."),
    history: z
      .array(z.object({ image: z.string(), revision: z.string().optional(), time }))
      .optional()
      .describe("Images that ran before, newest first."),
    observedGeneration,
    conditions: conditions(
      "Rendered: the chart rendered objects. Applied: the API server accepted them. RolledOut: all pods run the new version. Ready: all three.",
    ),
  }),
  columns: [
    ready,
    { name: "Status", type: "string", jsonPath: ".status.status" },
    { name: "Image", type: "string", jsonPath: ".status.currentImage" },
    { name: "URL", type: "string", jsonPath: ".status.url" },
    age,
  ],
});
export type Application = ObjectOf<typeof Application>;

/** Application: something that runs, and where it is reached. */
import { z } from "zod";
import { listMap } from "../../../bus/kube/crd.ts";
import { defineKind, type ObjectOf } from "../../../bus/kube/kind.ts";
import { hostPattern } from "../hosts/pattern.ts";
import { group, version } from "../names.ts";
import {
  age,
  conditions,
  env,
  envFrom,
  objectName,
  observedGeneration,
  ready,
  resources,
  shortName,
  time,
} from "./fields.ts";

/** What can be said of an Application, and for those of previews in the template of an AppPipeline. */
export const runtime = {
  command: z.array(z.string()).optional().describe("Command of the container."),
  args: z.array(z.string()).optional().describe("Arguments of the container."),
  attributes: z
    .record(z.string(), z.string())
    .optional()
    .describe("Parameters for the chart. What they mean it says itself."),
  serviceAccount: z.string().max(253).optional().describe("The ServiceAccount of the pods."),
  env: env.optional(),
  envFrom: envFrom.optional(),
  port: z
    .int()
    .min(1)
    .max(65535)
    .optional()
    .describe("Where the application listens, also in the variable PORT. Default: 8080."),
  resources: resources.optional(),
  healthCheck: z
    .object({
      path: z
        .string()
        .regex(/^\//, "expected a path that begins with a slash")
        .describe("An HTTP path that answers 200 when the application is well."),
      initialDelaySeconds: z.int32().min(0).optional(),
      timeoutSeconds: z.int32().min(1).optional(),
    })
    .optional()
    .describe("How it is found out whether the application is well. Default: whether it listens."),
} as const;

const resourceSchema = z.object({
  apiVersion: z.string(),
  kind: z.string(),
  name: z.string(),
  namespace: z.string().optional(),
  uid: z.string().optional(),
});

/** Something that runs, and where it is reached. */
export const Application = defineKind({
  group,
  version,
  kind: "Application",
  description: "Something that runs, and where it is reached. A chart makes the objects of it.",
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
          .regex(
            hostPattern,
            "expected the name of a host in lower case, such as web.example.com or *.example.com",
          ),
      )
      .max(500)
      .describe(
        "Names of hosts where the application is reached. Each belongs to the Application that claims it first. Without any, there is no route to it.",
      ),
    image: z
      .string()
      .optional()
      .describe("Image of the container. Empty: a page that says that nothing is deployed."),
    pinnedImage: z
      .string()
      .min(1)
      .optional()
      .describe("Runs instead of `image`, whatever is built: one of status.history, to go back to it."),
    ...runtime,
    replicas: z.int32().min(0).default(1).describe("How many pods."),
    imagePullSecret: z
      .string()
      .max(253)
      .optional()
      .describe("A Secret with the credentials to pull the image."),
    imagePullSecrets: z
      .array(z.object({ name: objectName }))
      .optional()
      .meta(listMap("name"))
      .describe("More of them. A RemoteSync adds its own."),
  }),
  status: z.object({
    domains: z.array(z.string()).optional().describe("Hosts of spec.domains that it owns and serves."),
    hosts: z
      .array(z.string())
      .optional()
      .describe("Hosts that it has claimed or waits for: spec.domains, and those that the chart adds."),
    status: z
      .enum(["progressing", "deployed", "failed", "error"])
      .optional()
      .describe("All of it in one word."),
    message: z.string().optional().describe("Why it is not deployed."),
    resources: z.array(resourceSchema).optional().describe("What belongs to it."),
    url: z.string().optional().describe("Where it is reached."),
    urls: z.array(z.string()).optional().describe("All places where it is reached."),
    replicas: z.int().min(0).optional().describe("How many pods there are."),
    readyReplicas: z.int().min(0).optional().describe("How many of them are ready."),
    selector: z.string().optional().describe("Labels of the pods, for autoscalers."),
    currentImage: z.string().optional().describe("The image that all pods run."),
    history: z
      .array(z.object({ image: z.string(), revision: z.string().optional(), time }))
      .optional()
      .describe("Images that have run, the newest first."),
    observedGeneration,
    conditions: conditions(
      "Rendered: the chart made objects. Applied: the API server has them. RolledOut: all pods run them. Ready: all three.",
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

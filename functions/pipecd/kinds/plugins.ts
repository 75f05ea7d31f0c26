/** Plugins of a Piped with an agent of PipeCD v1, and their deploy targets. */
import { cel, listMap, z } from "denrei/kinds";
import { exactlyOne, nonEmpty, plaintextWarning, text, texts } from "./fields.ts";
import { analysisProvider, kubernetesFields } from "./providers.ts";

/** Ports that the agent itself listens on: `--admin-port` and `--plugin-service-port`. */
const reservedPorts: readonly number[] = [9085, 9087];
const maxPlugins = 32;
const maxTargets = 64;

const nameMessage =
  "expected a name of letters, digits, hyphens, underscores, and dots that starts with a letter or digit, because the agent stores the plugin in a file of this name";
const urlMessage =
  "expected file:///<path>, https://<host>/<path>, or oci://<host>/<path> with an optional tag or digest";
const portMessage = `expected a port other than ${reservedPorts.join(" and ")}, which the agent listens on itself`;
const portsMessage = "expected a unique port for each plugin";

const isUnique = <T>(values: readonly T[]): boolean => new Set(values).size === values.length;
const areUnique = (items: readonly { readonly name: string }[]): boolean =>
  isUnique(items.map(({ name }) => name));

function targetsOf<Config extends z.ZodType>(config: Config, least: number) {
  const target = z.object({
    name: nonEmpty.max(253).describe("Name in spec.deployTargetsByPlugin of Applications."),
    labels: z.record(z.string(), z.string()).optional(),
    config,
  });
  return z.array(target).min(least).max(maxTargets).meta(listMap("name"));
}

/** Plugins that deploy do not start without a deploy target. */
const deployment = <Config extends z.ZodType>(config: Config) =>
  z.object({ deployTargets: targetsOf(config, 1).describe("Platforms to deploy to: at least one.") });

const chartRepository = z.object({
  name: nonEmpty,
  address: nonEmpty,
  username: text.optional(),
  password: text.optional().describe(plaintextWarning),
  insecure: z.boolean().optional().describe("Whether to skip certificate verification."),
});
const chartRegistry = z.object({
  address: nonEmpty,
  username: text.optional(),
  password: text.optional().describe(plaintextWarning),
});

const kubernetes = deployment(z.object(kubernetesFields).optional()).extend({
  config: z
    .object({
      chartRepositories: z
        .array(chartRepository)
        .optional()
        .describe("Repositories of Helm charts, over HTTP."),
      chartRegistries: z.array(chartRegistry).optional().describe("OCI registries of Helm charts."),
    })
    .optional(),
});
const terraform = deployment(
  z
    .object({
      vars: texts.optional().describe("Variables as name=value."),
      driftDetectionEnabled: z.boolean().optional().describe("Default: true."),
    })
    .optional(),
);
const cloudRun = deployment(
  z.object({ project: nonEmpty, region: nonEmpty, credentialsFile: text.optional() }),
);
const ecs = deployment(
  z.object({
    region: nonEmpty,
    profile: text.optional(),
    credentialsFile: text.optional(),
    roleARN: text.optional(),
    tokenFile: text.optional(),
  }),
);
const analysis = z.object({
  config: z.object({ analysisProviders: z.array(analysisProvider).max(maxTargets).optional() }).optional(),
});
const stage = z.object({}).describe("A plugin without configuration and deploy targets.");
const custom = z.object({
  config: z
    .looseObject({})
    .optional()
    .describe(`Configuration, passed to the plugin unchanged. ${plaintextWarning}`),
  deployTargets: targetsOf(z.looseObject({}).optional(), 0).optional(),
});

const plugin = exactlyOne(
  z.object({
    name: nonEmpty
      .max(63)
      .regex(/^[A-Za-z0-9][-._A-Za-z0-9]*$/, nameMessage)
      .describe("Name of the plugin in configuration files of applications."),
    port: z
      .int()
      .min(1)
      .max(65_535)
      .refine((port) => !reservedPorts.includes(port), portMessage)
      .meta(cel({ rule: `!(self in [${reservedPorts.join(", ")}])`, message: portMessage }))
      .describe("Port that it listens on in the agent's pod."),
    url: nonEmpty
      .max(2048)
      .regex(/^(file:\/\/\/[!-~]+|(https|oci):\/\/[-.:@[\]A-Za-z0-9]+\/[!-~]+)$/, urlMessage)
      .describe("URL of the program: a file, a download, or an OCI artifact."),
    kubernetes: kubernetes.optional(),
    terraform: terraform.optional(),
    cloudRun: cloudRun.optional(),
    ecs: ecs.optional(),
    analysis: analysis.optional(),
    wait: stage.optional(),
    waitApproval: stage.optional(),
    scriptRun: stage.optional(),
    custom: custom.optional().describe("Any other plugin."),
  }),
  "kubernetes",
  "terraform",
  "cloudRun",
  "ecs",
  "analysis",
  "wait",
  "waitApproval",
  "scriptRun",
  "custom",
);
/** A plugin of an agent of PipeCD v1. */
export type Plugin = z.infer<typeof plugin>;

/** Schema of `spec.plugins`. */
export const plugins = z
  .array(plugin)
  .max(maxPlugins)
  .refine(areUnique, "expected a unique name for each plugin")
  .refine((all) => isUnique(all.map(({ port }) => port)), portsMessage)
  .meta({
    ...listMap("name"),
    ...cel({ rule: "self.all(a, self.exists_one(b, b.port == a.port))", message: portsMessage }),
  })
  .describe("Plugins that the agent deploys with. Needs an agent of PipeCD v1.");

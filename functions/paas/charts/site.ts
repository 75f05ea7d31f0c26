/** Settings for all Applications of a site: routes, and defaults of pods. */
import { z } from "denrei";
import { resources } from "../kinds/fields.ts";

const name = z.string().min(1).max(253);
const texts = z.record(z.string(), z.string());

const gateway = z
  .object({
    name,
    namespace: name.describe(
      "Namespace of the Gateway. Its listeners must allow routes from the namespaces of Applications.",
    ),
    sectionName: name
      .optional()
      .describe("Listener of the Gateway. Default: each listener that matches the host."),
  })
  .describe("Gateway of the HTTPRoutes. If set, each Application has an HTTPRoute instead of an Ingress.");

const ingress = z
  .object({
    className: name.optional().describe("IngressClass. Default: the cluster's default."),
    annotations: texts.optional().describe("Annotations. They override those that the chart sets."),
    tlsSecretName: name
      .optional()
      .describe(
        "TLS Secret in the namespace of each Application. Default: the certificate of the Ingress controller.",
      ),
  })
  .describe("Settings of Ingresses, for a site without a Gateway.");

/**
 * The configuration of a site, which every chart gets. Unknown keys are kept for the site's own chart.
 *
 * No Gateway exists in every cluster, and an HTTPRoute needs one. So without `gateway` an Application has an Ingress, by default of
 * the cluster's default class.
 */
export const siteSchema = z.looseObject({
  scheme: z
    .enum(["http", "https"])
    .default("https")
    .describe("Scheme of the URLs of Applications. With http, an Ingress has no TLS."),
  gateway: gateway.optional(),
  ingress: ingress.optional(),
  noAppImage: z
    .string()
    .min(1)
    .default("modokipaas/no-app")
    .describe("Placeholder image for Applications without an image. It must listen on $PORT."),
  defaultResources: resources.optional().describe("Resources of containers whose Application sets none."),
  podSecurity: z
    .enum(["baseline", "restricted"])
    .default("baseline")
    .describe(
      "Level of the Pod Security Standards that pods conform to. With baseline, images may start as root. With restricted they cannot; images of buildpacks do not need to.",
    ),
  progressDeadlineSeconds: z
    .int()
    .min(1)
    .default(300)
    .describe("Time without progress after which a rollout has failed."),
  terminationGracePeriodSeconds: z
    .int()
    .min(10)
    .default(30)
    .describe("Time for a pod to terminate. The process gets its signal 5 seconds after the start."),
  ingressNamespace: name.optional().describe("From modoki-operator, not used."),
  tlsSecretName: name.optional().describe("From modoki-operator. ingress.tlsSecretName takes precedence."),
  ingressAnnotations: texts.optional().describe("From modoki-operator. ingress.annotations take precedence."),
  serviceDomain: name.default("svc.cluster.local").describe("Domain of the cluster's Services."),
  oauth2ServiceName: name.default("oauth2-proxy").describe("Service of oauth2-proxy, at port 4180."),
  oauth2ServiceNamespace: name.default("modoki-operator-system"),
});

/** {@link siteSchema} with its defaults filled in. */
export type SiteConfig = z.infer<typeof siteSchema>;

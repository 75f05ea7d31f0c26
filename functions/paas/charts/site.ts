/** What holds for all Applications of a site: how they are reached, and what their pods get. */
import { z } from "zod";
import { resources } from "../kinds/fields.ts";

const name = z.string().min(1).max(253);
const texts = z.record(z.string(), z.string());

const gateway = z
  .object({
    name,
    namespace: name.describe("Its listeners have to allow routes from the namespaces of the Applications."),
    sectionName: name.optional().describe("One listener of it. Default: each that fits the host."),
  })
  .describe("The Gateway that routes belong to: with it, each Application has an HTTPRoute.");

const ingress = z
  .object({
    className: name.optional().describe("Default: the cluster's default IngressClass."),
    annotations: texts.optional().describe("Go over those that the chart sets itself."),
    tlsSecretName: name
      .optional()
      .describe("In the namespace of each Application. Default: the certificate of the Ingress controller."),
  })
  .describe("How each Application's Ingress is, when there is no Gateway.");

/**
 * The configuration of a site, as every chart is given it. Keys that are not here are kept, for charts of the site's own.
 *
 * An HTTPRoute needs a Gateway to belong to, and there is none that every cluster has: so without `gateway` an Application
 * has an Ingress, of the cluster's default class if `ingress` says nothing else.
 */
export const siteSchema = z.looseObject({
  scheme: z
    .enum(["http", "https"])
    .default("https")
    .describe("How Applications are reached from outside. With http an Ingress has no TLS."),
  gateway: gateway.optional(),
  ingress: ingress.optional(),
  noAppImage: z
    .string()
    .min(1)
    .default("modokipaas/no-app")
    .describe("Runs while an Application has no image. It has to listen on $PORT."),
  defaultResources: resources
    .optional()
    .describe("Of containers whose Application says nothing about resources."),
  podSecurity: z
    .enum(["baseline", "restricted"])
    .default("baseline")
    .describe(
      "The level of the Pod Security Standards that pods fit. At baseline images may start as root; at restricted they can not, as those of buildpacks do not.",
    ),
  progressDeadlineSeconds: z
    .int()
    .min(1)
    .default(300)
    .describe("How long a rollout may make no progress before it has failed."),
  terminationGracePeriodSeconds: z
    .int()
    .min(10)
    .default(30)
    .describe("How long a pod may take to end. Of it 5 seconds go by before the process is told."),
  ingressNamespace: name.optional().describe("Of modoki-operator, where nothing used it."),
  tlsSecretName: name.optional().describe("Of modoki-operator: ingress.tlsSecretName goes before it."),
  ingressAnnotations: texts.optional().describe("Of modoki-operator: ingress.annotations go over them."),
  serviceDomain: name.default("svc.cluster.local").describe("The cluster's domain of Services."),
  oauth2ServiceName: name.default("oauth2-proxy").describe("The Service of oauth2-proxy, at port 4180."),
  oauth2ServiceNamespace: name.default("modoki-operator-system"),
});

/** {@link siteSchema} with its defaults filled in. */
export type SiteConfig = z.infer<typeof siteSchema>;

/** What a site may choose of the dashboard. */
import { z } from "zod";

/** What the manifests say where nobody has chosen. */
export interface DashboardDefaults {
  readonly url: string;
  readonly issuer: string;
  readonly clientId: string;
  /** The name of its Secret. */
  readonly secret: string;
  readonly tlsSecret: string;
  readonly parentRefs: readonly object[];
}

const text = z.string();
/** Of the variables that have no value of their own, and are not each pod's own. */
const variable = /^(DENREI_OIDC_(SCOPES|CA)|DENREI_GITHUB_[A-Z_]+|DENREI_LOG_LEVEL|(OTEL|NODE)_[A-Z_]+)$/;

/** The schema of `dashboard`; `workload` is what all workloads have. */
export const dashboardSchema = <Workload extends z.core.$ZodShape>(
  defaults: DashboardDefaults,
  workload: Workload,
) =>
  z
    .strictObject({
      enabled: z.boolean().default(false).describe("Whether there is one. It needs an issuer and a Secret."),
      ...workload,
      url: text
        .regex(/^https:\/\/[^/\s]+$/)
        .default(defaults.url)
        .describe("Where browsers reach it: https://host, without a path."),
      oidc: z
        .strictObject({
          issuer: text
            .regex(/^https:\/\/[^\s?#]+$/)
            .default(defaults.issuer)
            .describe("The OpenID Connect issuer, as its tokens have it. The API server has to trust it."),
          clientId: text
            .min(1)
            .default(defaults.clientId)
            .describe("The dashboard's name there, which is the audience of the tokens."),
          publicClient: z.boolean().default(false).describe("Whether that client has no secret."),
        })
        .prefault({})
        .describe("Where people log in."),
      existingSecret: text
        .min(1)
        .default(defaults.secret)
        .describe("The Secret with session-keys and client-secret. No value has them."),
      settings: z
        .partialRecord(text.regex(variable), text)
        .default({})
        .describe("More variables of the dashboard alone, such as DENREI_OIDC_SCOPES."),
      kubeconfig: text
        .default("")
        .describe("A kubeconfig without a user, where the API server is not that of the pods."),
      ingress: z
        .strictObject({
          enabled: z.boolean().default(false).describe("Whether there is an Ingress."),
          className: text.default("").describe("Empty: the cluster's default."),
          tlsSecret: text
            .default(defaults.tlsSecret)
            .describe("The Secret with the certificate; empty: TLS is ended before."),
          annotations: z.record(text, text).default({}).describe("Whatever the controller needs."),
        })
        .prefault({})
        .describe("By way of an Ingress controller."),
      httpRoute: z
        .strictObject({
          enabled: z.boolean().default(false).describe("Whether there is an HTTPRoute."),
          parentRefs: z
            .array(z.record(text, z.unknown()))
            .default(defaults.parentRefs.map((ref) => ({ ...ref })))
            .describe("The Gateways, which end TLS."),
        })
        .prefault({})
        .describe("By way of the Gateway API."),
    })
    .prefault({} as never)
    .describe("The page for people who would rather look than type.");

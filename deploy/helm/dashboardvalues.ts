/** The values of the dashboard. */
import { z } from "zod";

/** The defaults, read from the manifests. */
export interface DashboardDefaults {
  readonly url: string;
  readonly issuer: string;
  readonly clientId: string;
  /** The name of the Secret with its session keys and client secret. */
  readonly secret: string;
  readonly tlsSecret: string;
  readonly parentRefs: readonly object[];
}

const text = z.string();
/** Variables that have no dedicated value and are not set for each pod. */
const variable = /^(DENREI_OIDC_(SCOPES|CA)|DENREI_GITHUB_[A-Z_]+|DENREI_LOG_LEVEL|(OTEL|NODE)_[A-Z_]+)$/;

/** The schema of `dashboard`; `workload` has the values common to all workloads. */
export const dashboardSchema = <Workload extends z.core.$ZodShape>(
  defaults: DashboardDefaults,
  workload: Workload,
) =>
  z
    .strictObject({
      enabled: z.boolean().default(false).describe("Deploy the dashboard. It needs an issuer and a Secret."),
      ...workload,
      url: text
        .regex(/^https:\/\/[^/\s]+$/)
        .default(defaults.url)
        .describe("URL at which browsers reach it: https://host, without a path."),
      oidc: z
        .strictObject({
          issuer: text
            .regex(/^https:\/\/[^\s?#]+$/)
            .default(defaults.issuer)
            .describe(
              "URL of the OpenID Connect issuer, exactly as in its tokens. The API server must trust it.",
            ),
          clientId: text
            .min(1)
            .default(defaults.clientId)
            .describe("Client ID of the dashboard, which is the audience of the tokens."),
          publicClient: z.boolean().default(false).describe("Set to true if the client has no secret."),
        })
        .prefault({})
        .describe("The identity provider for logging in."),
      existingSecret: text
        .min(1)
        .default(defaults.secret)
        .describe("Secret with the keys session-keys and client-secret. The chart does not create it."),
      settings: z
        .partialRecord(text.regex(variable), text)
        .default({})
        .describe("More environment variables of the dashboard only, such as DENREI_OIDC_SCOPES."),
      kubeconfig: text
        .default("")
        .describe(
          "Kubeconfig without a user. Set it if the dashboard must reach the API server at another address than pods do.",
        ),
      ingress: z
        .strictObject({
          enabled: z.boolean().default(false).describe("Create an Ingress."),
          className: text.default("").describe("Ingress class. If empty, the default of the cluster."),
          tlsSecret: text
            .default(defaults.tlsSecret)
            .describe(
              "Secret with the certificate. If empty, TLS must be terminated in front of the Ingress.",
            ),
          annotations: z
            .record(text, text)
            .default({})
            .describe("Annotations that the Ingress controller needs."),
        })
        .prefault({})
        .describe("Routes browsers to the dashboard through an Ingress controller."),
      httpRoute: z
        .strictObject({
          enabled: z.boolean().default(false).describe("Create an HTTPRoute."),
          parentRefs: z
            .array(z.record(text, z.unknown()))
            .default(defaults.parentRefs.map((ref) => ({ ...ref })))
            .describe("Gateways to attach the route to. They terminate TLS."),
        })
        .prefault({})
        .describe("Routes browsers to the dashboard through the Gateway API."),
    })
    .prefault({} as never)
    .describe("The web dashboard.");

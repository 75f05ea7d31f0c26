/** Configurations that make the API server call the admission hooks of kinds. */
import {
  type AdmissionHooks,
  admissionPaths,
  type ConversionWebhook,
  clientConfigOf,
  type Kind,
} from "denrei/kinds";
import { definedKinds, type ReconcileFunction } from "denrei/runtime";
import { admissionName, labelsOf } from "./rbac.ts";

type Manifest = Record<string, unknown>;

/** The label of all configurations, which no other objects of these kinds have. */
export const configurationLabels = labelsOf(admissionName);

/**
 * A MutatingWebhookConfiguration and a ValidatingWebhookConfiguration for each kind of the functions that has such hooks, with the
 * name of its CRD. Apply them when the webhook runs with these functions: until then, the API server rejects writes.
 */
export const admissionConfigurations = (
  functions: readonly ReconcileFunction[],
  webhook: ConversionWebhook,
): Manifest[] => kindConfigurations(definedKinds(functions), webhook);

/** The configurations of these kinds. */
export function kindConfigurations(kinds: readonly Kind[], webhook: ConversionWebhook): Manifest[] {
  return kinds.flatMap((kind) => {
    const hooks = kind.definition?.admission;
    if (hooks === undefined) return [];
    const common = { kind, hooks, webhook };
    return [
      ...(hooks.mutate ? [mutatingConfiguration(common)] : []),
      ...(hooks.validate || hooks.validateDelete ? [validatingConfiguration(common)] : []),
    ];
  });
}

interface Hooked {
  readonly kind: Kind;
  readonly hooks: AdmissionHooks;
  readonly webhook: ConversionWebhook;
}

const mutatingConfiguration = (hooked: Hooked): Manifest =>
  configuration("MutatingWebhookConfiguration", hooked, {
    ...webhookOf(hooked, "mutate", ["CREATE", "UPDATE"]),
    // A hook is idempotent, and another webhook may change what it has checked.
    reinvocationPolicy: "IfNeeded",
  });

function validatingConfiguration(hooked: Hooked): Manifest {
  const { validate, validateDelete } = hooked.hooks;
  const operations = [...(validate ? ["CREATE", "UPDATE"] : []), ...(validateDelete ? ["DELETE"] : [])];
  return configuration("ValidatingWebhookConfiguration", hooked, webhookOf(hooked, "validate", operations));
}

/** One for each kind, so that projects in one cluster do not overwrite each other's. */
const configuration = (
  kind: string,
  { kind: { plural, group }, webhook }: Hooked,
  hook: object,
): Manifest => ({
  apiVersion: "admissionregistration.k8s.io/v1",
  kind,
  metadata: {
    name: `${plural}.${group}`,
    labels: configurationLabels,
    ...(webhook.annotations && { annotations: webhook.annotations }),
  },
  webhooks: [hook],
});

const webhookOf = (
  { kind, hooks, webhook }: Hooked,
  type: keyof typeof admissionPaths,
  operations: readonly string[],
) => ({
  // Clients see this name in a denial.
  name: `${type}.${kind.plural}.${kind.group}`,
  admissionReviewVersions: ["v1"],
  clientConfig: clientConfigOf(webhook, admissionPaths[type]),
  rules: [
    {
      apiGroups: [kind.group],
      apiVersions: [kind.version],
      // Without subresources: a hook cannot keep a function from reporting a status.
      resources: [kind.plural],
      operations,
      scope: kind.scope,
    },
  ],
  // The API server converts objects of other versions before it calls a hook.
  matchPolicy: "Equivalent",
  matchConditions: [notBeingDeleted, ...(hooks.updates === "spec" ? [specChanged] : [])],
  namespaceSelector: exempting(hooks.namespaceSelector, webhook),
  ...(hooks.objectSelector && { objectSelector: hooks.objectSelector }),
  sideEffects: "None",
  failurePolicy: hooks.failurePolicy,
  timeoutSeconds: hooks.timeoutSeconds,
});

/** A hook cannot keep a finalizer from being removed, not even while its process does not answer. */
const notBeingDeleted = {
  name: "not-being-deleted",
  expression:
    'request.operation == "DELETE" ? !has(oldObject.metadata.deletionTimestamp) : !has(object.metadata.deletionTimestamp)',
};

const specChanged = {
  name: "spec-changed",
  expression:
    'request.operation != "UPDATE" || !has(object.spec) || !has(oldObject.spec) || object.spec != oldObject.spec',
};

/** Namespaces whose objects no hook may block: those of the cluster and of the webhook itself. */
function exempting(
  { matchLabels, matchExpressions = [] }: NonNullable<AdmissionHooks["namespaceSelector"]> = {},
  { address }: ConversionWebhook,
): object {
  const values = ["kube-system", ...("service" in address ? [address.service.namespace] : [])];
  const exempt = { key: "kubernetes.io/metadata.name", operator: "NotIn", values };
  return { ...(matchLabels && { matchLabels }), matchExpressions: [...matchExpressions, exempt] };
}

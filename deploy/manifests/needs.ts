/** What a cluster needs besides the printed manifests. */
import { needsConversion } from "denrei/kinds";
import { definedKinds } from "denrei/runtime";
import { type Layout, needGateway } from "../generate/layout.ts";
import { admissionName } from "../generate/rbac.ts";
import { webhookSecretsName } from "../generate/workloads.ts";

/** What was printed, and with which options. */
export interface Printed {
  readonly layout: Layout;
  readonly namespace: string;
  /** Options of the layout, for the commands in the text. */
  readonly flags: readonly string[];
  readonly certificates: "included" | "not included";
  readonly bus: "own" | "of another project";
  /** Whether the network policies, if there are any, allow the connections to the bus. */
  readonly network: "open to the bus" | "blocks the bus";
  /** How `kubectl apply` has to be called. */
  readonly apply: "any" | "server-side";
}

/** Lines for the user. */
export function needs({ layout, namespace, flags, certificates, bus, network, apply }: Printed): string[] {
  const { functions } = layout;
  return [
    ...(apply === "server-side"
      ? [
          "The users of the bus are too many for the annotation of kubectl apply: use kubectl apply --server-side.",
        ]
      : []),
    ...(certificates === "included"
      ? [
          "The output contains private keys: do not store it. Each run creates new ones, which replace all pods.",
        ]
      : []),
    ...(bus === "own" && certificates === "included" ? [] : [waiting[bus](flags, namespace)]),
    ...(network === "blocks the bus"
      ? [
          "The network policies block the bus, because its URL is not nats.<namespace>: add the addresses of its servers to the policy denrei-bus.",
        ]
      : []),
    ...(certificates === "not included" && definedKinds(functions).some(needsConversion)
      ? [
          `Kinds with several versions need the CA of their webhook: cert-manager adds it to the CRDs, or ${webhookCa[bus]}.`,
        ]
      : []),
    ...(definedKinds(functions).some(({ definition }) => definition?.admission)
      ? [
          `Once the pods of ${admissionName} run, let the API server call the admission hooks: npx denrei webhook-configurations ` +
            `--namespace ${namespace} --webhook-ca <file> | kubectl apply -f -`,
        ]
      : []),
    ...(needGateway(functions)
      ? [
          `Pods that receive webhooks wait for a secret for each hook: kubectl create secret generic ${webhookSecretsName} ` +
            `--namespace ${namespace} ${literals(layout)}`,
        ]
      : []),
  ];
}

const words = (...all: readonly string[]): string => all.join(" ");

const waiting = {
  own: (flags: readonly string[], namespace: string) =>
    `Pods wait for their certificates: ${words("npx denrei certificates", ...flags)} --namespace ${namespace} | kubectl apply -f -, ` +
    "or cert-manager.",
  "of another project": (flags: readonly string[], namespace: string) =>
    `Pods wait for their certificates, and the bus does not know their users: ${words("npx denrei users", ...flags)} ` +
    `--json --namespace ${namespace} > users.json. ` +
    "Then, in the project of the bus, denrei manifests and denrei certificates with --include users.json.",
} as const;

const webhookCa = { own: "denrei crds --webhook-ca", "of another project": "--certificates" } as const;

/** One example for each provider. */
const literals = ({ functions }: Layout): string =>
  [...new Set(functions.flatMap(({ webhooks }) => webhooks.map(({ provider }) => provider.name)))]
    .map((provider) => `--from-literal=${provider}.<hook>=<secret>`)
    .join(" ");

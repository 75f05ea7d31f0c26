/** What a cluster needs besides the printed manifests. */
import { needWebhook } from "../generate/crds.ts";
import { type Layout, needGateway } from "../generate/layout.ts";
import { webhookSecretsName } from "../generate/workloads.ts";

/** What was printed, and with which options. */
export interface Printed {
  readonly layout: Layout;
  readonly namespace: string;
  /** Options of the layout, for the commands in the text. */
  readonly flags: readonly string[];
  readonly certificates: "included" | "not included";
  /** How `kubectl apply` has to be called. */
  readonly apply: "any" | "server-side";
}

/** Lines for the user. */
export function needs({ layout, namespace, flags, certificates, apply }: Printed): string[] {
  const { functions } = layout;
  const command = ["npx denrei certificates", ...flags, `--namespace ${namespace}`].join(" ");
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
      : [`Pods wait for their certificates: ${command} | kubectl apply -f -, or cert-manager.`]),
    ...(certificates === "not included" && needWebhook(functions)
      ? [
          "Kinds with several versions need the CA of their webhook: cert-manager adds it to the CRDs, or denrei crds --webhook-ca.",
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

/** One example for each provider. */
const literals = ({ functions }: Layout): string =>
  [...new Set(functions.flatMap(({ webhooks }) => webhooks.map(({ provider }) => provider.name)))]
    .map((provider) => `--from-literal=${provider}.<hook>=<secret>`)
    .join(" ");

/** `denrei crds`, `denrei webhook-configurations`, `denrei rbac`, `denrei opt-in`, `denrei certificates` and `denrei users` */

import { readFile } from "node:fs/promises";
import { type ConversionWebhook, needsConversion, optInLabel } from "denrei/kinds";
import { AbsentError, definedKinds, UsageError } from "denrei/runtime";
import { authorizationText, certificateUsers, clusterRoles, inOneAccount } from "../authorization.ts";
import { certificateManifests, certificateSecretName } from "../generate/certificates.ts";
import { clusterWebhook, crdManifests, needWebhook } from "../generate/crds.ts";
import {
  accountManifest,
  admissionName,
  gatewayName,
  optInManifests,
  roleManifests,
} from "../generate/rbac.ts";
import { admissionConfigurations } from "../generate/webhookconfigurations.ts";
import { yamlText } from "../generate/yaml.ts";
import { allFunctions, functionsNamed } from "./named.ts";

const print = (manifests: readonly object[], { json }: { json?: boolean }): void => {
  const text = json
    ? JSON.stringify({ apiVersion: "v1", kind: "List", items: manifests }, null, 2)
    : yamlText(manifests);
  process.stdout.write(text.endsWith("\n") ? text : `${text}\n`);
};

/** Options of commands that name the webhook of kinds. */
interface WebhookOptions {
  readonly json?: boolean;
  readonly namespace: string;
  readonly webhookCa?: string;
}

/**
 * Prints the CRDs of all kinds that the functions define. Throws a {@link UsageError} if a kind has several versions, and there is no
 * certificate for the webhook.
 */
export async function crds(options: WebhookOptions): Promise<void> {
  const functions = await allFunctions();
  const needsCa = definedKinds(functions).some(needsConversion);
  print(
    crdManifests(functions, await webhookFor("kinds with several versions need", needsCa, options)),
    options,
  );
}

/**
 * Prints the configurations with which the API server calls admission hooks. Throws an {@link AbsentError} if no kind has such hooks,
 * and a {@link UsageError} without the certificate of the webhook.
 */
export async function webhookConfigurations(options: WebhookOptions): Promise<void> {
  const functions = await allFunctions();
  if (!definedKinds(functions).some(({ definition }) => definition?.admission))
    throw new AbsentError("no kind has admission hooks: there is nothing to configure");
  print(admissionConfigurations(functions, await webhookFor("admission hooks need", true, options)), options);
}

async function webhookFor(
  what: string,
  needsCa: boolean,
  { namespace, webhookCa }: WebhookOptions,
): Promise<ConversionWebhook> {
  if (webhookCa === undefined && needsCa) throw new UsageError(noCaAdvice(what, namespace));
  return clusterWebhook(namespace, webhookCa === undefined ? undefined : await readCertificates(webhookCa));
}

const noCaAdvice = (what: string, namespace: string): string =>
  `${what} a webhook, whose certificate the API server has to trust: set --webhook-ca to the file with the CA. To read it from the cluster: kubectl get secret ${certificateSecretName(admissionName)} --namespace ${namespace} ` +
  `-o jsonpath='{.data.ca\\.crt}' | base64 -d`;

/** Throws a {@link UsageError} for a file without certificates. */
async function readCertificates(path: string): Promise<string> {
  const text = await readFile(path, "utf8").catch((error: Error) => {
    throw new UsageError(`--webhook-ca: ${error.message}`, { cause: error });
  });
  if (text.includes("-----BEGIN CERTIFICATE-----")) return text;
  throw new UsageError(`--webhook-ca: expected certificates in PEM, found none in ${path}`);
}

/** Processes that run no functions. */
const infrastructure = ["bridge", "gateway"];

/** Prints service accounts, roles and bindings. */
export async function rbac(
  names: readonly string[],
  options: { json?: boolean; namespace: string },
): Promise<void> {
  const selected = names.length === 0 ? ["all", ...infrastructure] : names;
  const workers = await functionsNamed(
    selected.filter((name) => !infrastructure.includes(name)),
    [...infrastructure, "all"],
  );
  const { namespace } = options;
  const bridge = selected.includes("bridge") ? await allFunctions() : [];
  const gateway = selected.includes("gateway") ? [accountManifest(gatewayName, namespace)] : [];
  const webhook =
    names.length === 0 && needWebhook(await allFunctions())
      ? [accountManifest(admissionName, namespace)]
      : [];
  print([...roleManifests({ functions: workers, bridge, namespace }), ...gateway, ...webhook], options);
}

/** Prints the RoleBindings that opt namespaces in. Throws an {@link AbsentError} if no function owns or watches Secrets. */
export async function optIn(
  namespaces: readonly string[],
  options: { json?: boolean; platformNamespace: string },
): Promise<void> {
  const unique = [...new Set(namespaces)];
  const manifests = optInManifests(await allFunctions(), unique, options.platformNamespace);
  if (manifests.length === 0) {
    throw new AbsentError("no function owns or watches Secrets: there is nothing to opt in to");
  }
  print(manifests, options);
  // Standard output is input for kubectl.
  process.stderr.write(
    `Label the namespaces too: kubectl label namespace ${unique.join(" ")} ${optInLabel}=true\n`,
  );
}

/** Prints Secrets with new certificates for the bus and its users. */
export async function certificates(options: { json?: boolean; namespace: string }): Promise<void> {
  const functions = await allFunctions();
  const roles = clusterRoles(functions, "default").map(({ name }) => name);
  const webhook = needWebhook(functions) ? "webhook" : "no webhook";
  print(certificateManifests(roles, options.namespace, webhook), options);
}

/** Prints the users of the NATS servers, as a file that their configuration includes. */
export const users = async (options: { cluster: string; oneAccount?: boolean }): Promise<void> => {
  const roles = clusterRoles(await allFunctions(), options.cluster);
  process.stdout.write(authorizationText(certificateUsers(options.oneAccount ? inOneAccount(roles) : roles)));
};

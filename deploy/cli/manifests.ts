/** `denrei crds`, `denrei rbac`, `denrei opt-in`, `denrei certificates` and `denrei users` */

import { readFile } from "node:fs/promises";
import { functions } from "@denrei/functions";
import type { Role } from "denrei/bus";
import { optInLabel } from "denrei/kinds";
import { AbsentError, UsageError } from "denrei/runtime";
import { authorizationText, certificateUsers, inOneAccount } from "../authorization.ts";
import { certificateManifests, certificateSecretName } from "../generate/certificates.ts";
import { clusterWebhook, crdManifests, needWebhook } from "../generate/crds.ts";
import {
  accountManifest,
  admissionName,
  gatewayName,
  optInManifests,
  roleManifests,
  withRoleSuffix,
} from "../generate/rbac.ts";
import { yamlText } from "../generate/yaml.ts";
import { allFunctions, functionsNamed } from "./named.ts";
import { mergeRoles, ownRoles, readRoles } from "./projectroles.ts";

const print = (manifests: readonly object[], { json }: { json?: boolean }): void => {
  const text = json
    ? JSON.stringify({ apiVersion: "v1", kind: "List", items: manifests }, null, 2)
    : yamlText(manifests);
  process.stdout.write(text.endsWith("\n") ? text : `${text}\n`);
};

/**
 * Prints the CRDs of all kinds that the functions define. Throws a {@link UsageError} if a kind needs the webhook, and there is no
 * certificate for it.
 */
export async function crds(options: {
  json?: boolean;
  namespace: string;
  webhookCa?: string;
}): Promise<void> {
  const { namespace, webhookCa } = options;
  const functions = await allFunctions();
  if (webhookCa === undefined && needWebhook(functions)) throw new UsageError(noCaAdvice(namespace));
  const ca = webhookCa === undefined ? undefined : await readCertificates(webhookCa);
  print(crdManifests(functions, clusterWebhook(namespace, ca)), options);
}

const noCaAdvice = (namespace: string): string =>
  `kinds with several versions need a webhook, whose certificate the API server has to trust: set --webhook-ca to the file with ` +
  `the CA. To read it from the cluster: kubectl get secret ${certificateSecretName(admissionName)} --namespace ${namespace} ` +
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

const endingIn = (word: string): string => (word === "" ? "" : `-${word}`);

/** Prints service accounts, roles and bindings. */
export async function rbac(
  names: readonly string[],
  options: { json?: boolean; namespace: string; roleSuffix: string },
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
    names.length === 0 && needWebhook(functions) ? [accountManifest(admissionName, namespace)] : [];
  const roles = withRoleSuffix(
    roleManifests({ functions: workers, bridge, namespace }),
    endingIn(options.roleSuffix),
  );
  print([...roles, ...gateway, ...webhook], options);
}

/** Prints the RoleBindings that opt namespaces in. Throws an {@link AbsentError} if no function owns or watches Secrets. */
export async function optIn(
  namespaces: readonly string[],
  options: { json?: boolean; platformNamespace: string; roleSuffix: string },
): Promise<void> {
  const unique = [...new Set(namespaces)];
  const manifests = optInManifests(await allFunctions(), unique, options.platformNamespace);
  if (manifests.length === 0) {
    throw new AbsentError("no function owns or watches Secrets: there is nothing to opt in to");
  }
  print(withRoleSuffix(manifests, endingIn(options.roleSuffix)), options);
  // Standard output is input for kubectl.
  process.stderr.write(
    `Label the namespaces too: kubectl label namespace ${unique.join(" ")} ${optInLabel}=true\n`,
  );
}

/** Prints Secrets with new certificates for the bus and its users, those of other projects included. */
export async function certificates(options: {
  json?: boolean;
  namespace: string;
  include: readonly string[];
}): Promise<void> {
  const roles = (await rolesWith("default", options.include)).map(({ name }) => name);
  const webhook = needWebhook(await allFunctions()) ? "webhook" : "no webhook";
  print(certificateManifests(roles, options.namespace, webhook), options);
}

/** Options of {@link users}. */
export interface UsersOptions {
  readonly cluster: string;
  readonly oneAccount?: boolean;
  readonly json?: boolean;
  /** Files that another project has printed with `json`. */
  readonly include: readonly string[];
}

/** Prints the users of the NATS servers, as a file that their configuration includes, or that another project includes (`json`). */
export async function users({
  cluster,
  oneAccount = false,
  json = false,
  include,
}: UsersOptions): Promise<void> {
  if (json) {
    if (include.length > 0)
      throw new UsageError("--json prints the roles of this project alone: omit --include");
    process.stdout.write(`${JSON.stringify(await ownRoles(cluster), null, 2)}\n`);
    return;
  }
  const roles = await rolesWith(cluster, include);
  process.stdout.write(authorizationText(certificateUsers(oneAccount ? inOneAccount(roles) : roles)));
}

/** The roles of this project and of those that the files are from. */
async function rolesWith(cluster: string, include: readonly string[]): Promise<Role[]> {
  return mergeRoles(await Promise.all([ownRoles(cluster), ...include.map(readRoles)]));
}

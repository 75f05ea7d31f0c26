/** `denrei crds`, `denrei webhook-configurations`, `denrei rbac`, `denrei opt-in`, `denrei certificates` and `denrei users` */

import { readFile } from "node:fs/promises";
import { type ConversionWebhook, needsConversion, optInLabel } from "denrei/kinds";
import { AbsentError, definedKinds, openProject, UsageError } from "denrei/runtime";
import { didYouMean } from "denrei/values";
import { authorizationText, certificateUsers, inOneAccount } from "../authorization.ts";
import { certificateManifests, certificateSecretName } from "../generate/certificates.ts";
import { clusterWebhook, crdManifests, needWebhook } from "../generate/crds.ts";
import { type Layout, type LayoutOptions, needGateway, projectLayout } from "../generate/layout.ts";
import {
  accountManifest,
  accountsOf,
  admissionName,
  gatewayName,
  optInManifests,
  roleManifests,
  withRoleSuffix,
  workloadName,
} from "../generate/rbac.ts";
import { admissionConfigurations } from "../generate/webhookconfigurations.ts";
import { allFunctions } from "./named.ts";
import { type PrintOptions, print } from "./print.ts";
import { mergeRoles, ownRoles, type ProjectRoles, readRoles } from "./projectroles.ts";

/** The layout of the project in the working directory. */
const layout = async (options: LayoutOptions): Promise<Layout> => projectLayout(await openProject(), options);

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

/** The end of the names of roles. */
export const endingIn = (word: string): string => (word === "" ? "" : `-${word}`);

/**
 * Prints service accounts, roles, and bindings. A name selects the account that runs the function or the group. Throws a
 * {@link UsageError} for an unknown name.
 */
export async function rbac(
  names: readonly string[],
  {
    namespace,
    roleSuffix = "",
    ...options
  }: PrintOptions & LayoutOptions & { readonly namespace: string; readonly roleSuffix?: string },
): Promise<void> {
  const found = await layout(options);
  const withoutRoles = [
    ...(needGateway(found.functions) && found.processes === "separate" ? [gatewayName] : []),
    ...(needWebhook(found.functions) ? [admissionName] : []),
  ];
  const accounts = new Map(accountsOf(found).map((account) => [account.name, account]));
  const known = [...accounts.keys(), ...withoutRoles];
  const selected = names.length === 0 ? known : names.flatMap((name) => accountsNamed(name, found, known));
  const manifests = [...new Set(selected)].flatMap((name) => {
    const account = accounts.get(name);
    return account === undefined ? [accountManifest(name, namespace)] : roleManifests([account], namespace);
  });
  print(withRoleSuffix(manifests, endingIn(roleSuffix)), options);
}

/** The accounts of a process, a function, or a group; `all` stands for the workers. */
function accountsNamed(name: string, { functions, workers }: Layout, known: readonly string[]): string[] {
  if (name === "all") return workers.map(workloadName);
  const account = workloadName({ name });
  if (known.includes(account)) return [account];
  const set = workers.find((one) => one.functions.some((fn) => fn.name === name));
  if (set !== undefined) return [workloadName(set)];
  const words = [
    ...new Set([...functions.map((fn) => fn.name), ...known.map((one) => one.replace(/^denrei-/, ""))]),
  ];
  throw new UsageError(
    `unknown function "${name}"${didYouMean(name, words)}: expected one of ${words.join(", ")}, or all`,
  );
}

/** Prints the RoleBindings that opt namespaces in. Throws an {@link AbsentError} if no function owns or watches Secrets. */
export async function optIn(
  namespaces: readonly string[],
  {
    platformNamespace,
    roleSuffix = "",
    ...options
  }: PrintOptions & LayoutOptions & { readonly platformNamespace: string; readonly roleSuffix?: string },
): Promise<void> {
  const unique = [...new Set(namespaces)];
  const manifests = optInManifests(accountsOf(await layout(options)), unique, platformNamespace);
  if (manifests.length === 0) {
    throw new AbsentError("no function owns or watches Secrets: there is nothing to opt in to");
  }
  print(withRoleSuffix(manifests, endingIn(roleSuffix)), options);
  // Standard output is input for kubectl.
  process.stderr.write(
    `Label the namespaces too: kubectl label namespace ${unique.join(" ")} ${optInLabel}=true\n`,
  );
}

/** Prints Secrets with new certificates for the bus and its users, those of other projects in the namespaces of these. */
export async function certificates({
  namespace,
  include = [],
  ...options
}: PrintOptions &
  LayoutOptions & { readonly namespace: string; readonly include?: readonly string[] }): Promise<void> {
  const processes = await layout(options);
  const projects = await projectsWith(processes, "default", include);
  print(certificateManifests(processes, namespace, { projects }), options);
}

/** Options of {@link users}. */
export interface UsersOptions extends LayoutOptions {
  readonly cluster: string;
  readonly oneAccount?: boolean;
  readonly json?: boolean;
  /** Where the processes run, with `json`. */
  readonly namespace?: string;
  /** Files that another project has printed with `json`. */
  readonly include?: readonly string[];
}

/** Prints the users of the NATS servers, as a file that their configuration includes, or that another project includes (`json`). */
export async function users({
  cluster,
  oneAccount = false,
  json = false,
  namespace,
  include = [],
  ...options
}: UsersOptions): Promise<void> {
  const processes = await layout(options);
  if (json) {
    if (include.length > 0)
      throw new UsageError("--json prints the roles of this project alone: omit --include");
    process.stdout.write(`${JSON.stringify(await ownRoles(processes, cluster, namespace), null, 2)}\n`);
    return;
  }
  if (namespace !== undefined)
    throw new UsageError("--namespace: only for the project that includes the output of --json: add --json");
  const roles = mergeRoles(await projectsWith(processes, cluster, include));
  process.stdout.write(authorizationText(certificateUsers(oneAccount ? inOneAccount(roles) : roles)));
}

/** This project, and those that the files are from. Throws a {@link UsageError} if they cannot share a bus. */
export async function projectsWith(
  processes: Layout,
  cluster: string,
  include: readonly string[],
): Promise<ProjectRoles[]> {
  const projects = await Promise.all([ownRoles(processes, cluster), ...include.map(readRoles)]);
  mergeRoles(projects);
  return projects;
}

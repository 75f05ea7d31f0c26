/** `denrei crds`, `denrei rbac`, `denrei opt-in`, `denrei certificates` and `denrei users` */
import { optInLabel } from "denrei/kinds";
import { AbsentError } from "denrei/runtime";
import { authorizationText, certificateUsers, clusterRoles, inOneAccount } from "../authorization.ts";
import { certificateManifests } from "../generate/certificates.ts";
import { crdManifests } from "../generate/crds.ts";
import { accountManifest, gatewayName, optInManifests, roleManifests } from "../generate/rbac.ts";
import { yamlText } from "../generate/yaml.ts";
import { allFunctions, functionsNamed } from "./named.ts";

const print = (manifests: readonly object[], { json }: { json?: boolean }): void => {
  const text = json
    ? JSON.stringify({ apiVersion: "v1", kind: "List", items: manifests }, null, 2)
    : yamlText(manifests);
  process.stdout.write(text.endsWith("\n") ? text : `${text}\n`);
};

/** Prints the CRDs of all kinds that the functions define. */
export const crds = async (options: { json?: boolean }): Promise<void> =>
  print(crdManifests(await allFunctions()), options);

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
  print([...roleManifests({ functions: workers, bridge, namespace }), ...gateway], options);
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
  const roles = clusterRoles(await allFunctions(), "default").map(({ name }) => name);
  print(certificateManifests(roles, options.namespace), options);
}

/** Prints the users of the NATS servers, as a file that their configuration includes. */
export const users = async (options: { cluster: string; oneAccount?: boolean }): Promise<void> => {
  const roles = clusterRoles(await allFunctions(), options.cluster);
  process.stdout.write(authorizationText(certificateUsers(options.oneAccount ? inOneAccount(roles) : roles)));
};

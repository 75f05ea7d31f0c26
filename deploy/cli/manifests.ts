/** `denrei crds`, `denrei rbac`, `denrei opt-in`, `denrei certificates` and `denrei users` */
import { optInLabel } from "../../bus/kube/domain.ts";
import { functions } from "../../functions/index.ts";
import { AbsentError } from "../environment/errors.ts";
import {
  authorizationText,
  certificateUsers,
  clusterRoles,
  inOneAccount,
} from "../generate/authorization.ts";
import { certificateManifests } from "../generate/certificates.ts";
import { crdManifests } from "../generate/crds.ts";
import { accountManifest, gatewayName, optInManifests, roleManifests } from "../generate/rbac.ts";
import { yamlText } from "../generate/yaml.ts";
import { functionsNamed } from "./named.ts";

const print = (manifests: readonly object[], { json }: { json?: boolean }): void => {
  const text = json
    ? JSON.stringify({ apiVersion: "v1", kind: "List", items: manifests }, null, 2)
    : yamlText(manifests);
  process.stdout.write(text.endsWith("\n") ? text : `${text}\n`);
};

/** Prints the CRDs of every kind that the functions define. */
export const crds = (options: { json?: boolean }): void => print(crdManifests(functions), options);

/** Processes that are no function's. */
const others = ["bridge", "gateway"];

/** Prints service accounts, roles and bindings. */
export async function rbac(
  names: readonly string[],
  options: { json?: boolean; namespace: string },
): Promise<void> {
  const wanted = names.length === 0 ? ["all", ...others] : names;
  const workers = await functionsNamed(
    wanted.filter((name) => !others.includes(name)),
    ", bridge, gateway or all",
  );
  const { namespace } = options;
  const bridge = wanted.includes("bridge") ? functions : [];
  const gateway = wanted.includes("gateway") ? [accountManifest(gatewayName, namespace)] : [];
  print([...roleManifests({ functions: workers, bridge, namespace }), ...gateway], options);
}

/** Prints what opts namespaces in. Throws {@link AbsentError} when no function has a use for it. */
export function optIn(
  namespaces: readonly string[],
  options: { json?: boolean; platformNamespace: string },
): void {
  const wanted = [...new Set(namespaces)];
  const manifests = optInManifests(functions, wanted, options.platformNamespace);
  if (manifests.length === 0) {
    throw new AbsentError(
      "expected a function that owns or watches Secrets, found none: there is nothing to opt in to",
    );
  }
  print(manifests, options);
  // Standard output is for kubectl.
  process.stderr.write(
    `Label as well, if that is not done yet: kubectl label namespace ${wanted.join(" ")} ${optInLabel}=true\n`,
  );
}

/** Prints Secrets with new certificates for the bus and each of its users. */
export function certificates(options: { json?: boolean; namespace: string }): void {
  const roles = clusterRoles(functions, "default").map(({ name }) => name);
  print(certificateManifests(roles, options.namespace), options);
}

/** Prints the users of the NATS servers, as a file for their configuration to include. */
export const users = (options: { cluster: string; oneAccount?: boolean }): void => {
  const roles = clusterRoles(functions, options.cluster);
  process.stdout.write(authorizationText(certificateUsers(options.oneAccount ? inOneAccount(roles) : roles)));
};

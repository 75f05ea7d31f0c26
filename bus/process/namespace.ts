/** The platform's own namespace, which also has the keys of ClusterGitHubApps. */
import { readFileSync } from "node:fs";

const serviceAccountNamespace = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";

/** The platform's namespace: `CONTROLLER_NAMESPACE`, else that of the pod, else `denrei`. */
export function namespaceOfPlatform(env: Readonly<Record<string, string | undefined>>): string {
  const given = env.CONTROLLER_NAMESPACE;
  if (given !== undefined && given !== "") return given;
  try {
    return readFileSync(serviceAccountNamespace, "utf8").trim();
  } catch {
    return "denrei";
  }
}

/** The platform's namespace: `CONTROLLER_NAMESPACE` of this process, else that of its pod, else `denrei`. */
export const platformNamespace = namespaceOfPlatform(process.env);

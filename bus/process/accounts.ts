/** The service accounts of the platform's processes. */
import { userPrefix } from "../nats/identity.ts";

/** The name of the service account, the Deployment, and the role of a function or of the bridge. */
export const accountOf = (workload: string): string => `${userPrefix}${workload}`;

/** The user name that Kubernetes gives a service account: https://kubernetes.io/docs/reference/access-authn-authz/rbac/ */
export const accountUser = (account: string, namespace: string): string =>
  `system:serviceaccount:${namespace}:${account}`;

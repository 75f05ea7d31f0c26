/** The platform's own names in a cluster. */

/** Prefix of labels and finalizers, and of the field manager. */
export const domain = "denrei.dev";

/** A namespace with this label set to `true` is opted in: there, the platform watches Secrets as well. */
export const optInLabel = `${domain}/secrets`;

/** Shell command that opts a namespace in. */
export const optInCommands = (namespace: string): string =>
  `denrei opt-in ${namespace} | kubectl apply -f - && kubectl label namespace ${namespace} ${optInLabel}=true`;

/** Name of the ClusterRole with a workload's permissions in opted-in namespaces, and of the RoleBinding in each of them. */
export const optedInRole = (workload: string): string => `${workload}-opted-in`;

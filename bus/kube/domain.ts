/** Names that are the platform's own in a cluster. */

/** Prefix of labels and finalizers, and of the field manager. */
export const domain = "denrei.dev";

/** A namespace with this label and the value `true` is opted in: there, the platform looks at Secrets as well. */
export const optInLabel = `${domain}/secrets`;

/** What opts a namespace in, for a shell. */
export const optInCommands = (namespace: string): string =>
  `denrei opt-in ${namespace} | kubectl apply -f - && kubectl label namespace ${namespace} ${optInLabel}=true`;

/** The ClusterRole of what a workload may do in opted-in namespaces alone, and the RoleBinding in each of them. */
export const optedInRole = (workload: string): string => `${workload}-opted-in`;

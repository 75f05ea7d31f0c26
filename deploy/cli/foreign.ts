/** Whether somebody's own cluster and bus are used, or local ones. */

/** With both KUBECONFIG and NATS_URL set, they are the user's own. */
export const isOwnCluster = (): boolean => Boolean(process.env.KUBECONFIG && process.env.NATS_URL);

/** Settings that are about another bus and another cluster than the local ones: replicas of a local platform do not get them. */
export const foreign = {
  NATS_CREDS: undefined,
  NATS_CA: undefined,
  NATS_CERT: undefined,
  NATS_KEY: undefined,
  DENREI_STREAM_REPLICAS: undefined,
  DENREI_NAMESPACES: undefined,
} as const;

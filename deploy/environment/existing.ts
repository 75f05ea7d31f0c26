/** The user's own cluster and bus. They replace local ones if the environment names both. */

/** Their addresses. */
export interface ExistingCluster {
  readonly kubeconfig: string;
  readonly natsUrl: string;
}

/** The cluster that the environment names; undefined if everything is local. */
export function existingCluster(): ExistingCluster | undefined {
  const { KUBECONFIG: kubeconfig, NATS_URL: natsUrl } = process.env;
  return kubeconfig && natsUrl ? { kubeconfig, natsUrl } : undefined;
}

/** A notice for a user who set only one of the two variables; otherwise undefined. */
export function ignoredVariableNotice(): string | undefined {
  const [only, other] = ["KUBECONFIG", "NATS_URL"].filter((name) => process.env[name]);
  if (only === undefined || other !== undefined) return undefined;
  return `Only ${only} is set. Set both KUBECONFIG and NATS_URL to use an existing cluster.`;
}

/** Clears the settings of another bus and another cluster for replicas of a local platform. */
export const withoutForeignSettings = {
  NATS_CREDS: undefined,
  NATS_CA: undefined,
  NATS_CERT: undefined,
  NATS_KEY: undefined,
  DENREI_STREAM_REPLICAS: undefined,
  DENREI_NAMESPACES: undefined,
} as const;

/** The user's own cluster and bus, which take the place of local ones where the environment names both. */

/** Where they are. */
export interface ExistingCluster {
  readonly kubeconfig: string;
  readonly natsUrl: string;
}

/** What the environment names; undefined where everything is to be local. */
export function existingCluster(): ExistingCluster | undefined {
  const { KUBECONFIG: kubeconfig, NATS_URL: natsUrl } = process.env;
  return kubeconfig && natsUrl ? { kubeconfig, natsUrl } : undefined;
}

/** What to tell whoever has named one of the two and gets local ones; undefined where there is nothing to tell. */
export function ignoredVariableNotice(): string | undefined {
  const [only, other] = ["KUBECONFIG", "NATS_URL"].filter((name) => process.env[name]);
  if (only === undefined || other !== undefined) return undefined;
  return `Only ${only} is set and not the other one, so both are left alone.`;
}

/** Settings that are about another bus and another cluster than the local ones: replicas of a local platform do not get them. */
export const withoutForeignSettings = {
  NATS_CREDS: undefined,
  NATS_CA: undefined,
  NATS_CERT: undefined,
  NATS_KEY: undefined,
  DENREI_STREAM_REPLICAS: undefined,
  DENREI_NAMESPACES: undefined,
} as const;

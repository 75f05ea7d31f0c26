/** How the replicas of `denrei dev` and their parent process communicate. */
import type { Kind } from "denrei/kinds";

/** Variable with the digest of the installed CRDs and webhook configurations: a worker with the same ones does not check them. */
export const crdDigestVariable = "DENREI_DEV_CRDS";

/** Variable. With the value `drop`, a worker may remove fields from CRDs, because nothing else uses the cluster. */
export const lostFieldsVariable = "DENREI_DEV_LOST_FIELDS";

/** Variable with the digest of the roles in force: a worker with the same roles does not apply them. */
export const roleDigestVariable = "DENREI_DEV_ROLES";

/** Variable. The end of the names of roles in an existing cluster. */
export const roleSuffixVariable = "DENREI_DEV_ROLE_SUFFIX";

/**
 * Variable with the `ConversionWebhook` of a local platform, as JSON. A worker whose code needs it serves it, behind a
 * relay. Undefined for an existing cluster, whose API server cannot reach it.
 */
export const webhookVariable = "DENREI_DEV_WEBHOOK";

/** Signal for a worker after the old workers have stopped: request a reconcile of every object. */
export const requestAllSignal = "SIGUSR2";

/** A kind, as in paths of the API server. */
export type Resource = Pick<Kind, "plural" | "group">;

/** Content of the log record `declared`, which a worker writes before it takes requests. */
export interface Declared {
  readonly functions: readonly string[];
  /** The kinds that the code defines. */
  readonly resources: readonly Resource[];
  /** Digest of their CRDs and webhook configurations. */
  readonly crds: string;
  /** Digest of the roles of their functions. */
  readonly roles: string;
  /** Digest of everything that a bridge for these functions does. */
  readonly bridge: string;
}

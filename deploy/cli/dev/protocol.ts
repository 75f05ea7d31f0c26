/** What the replicas of `denrei dev` and the program that starts them tell each other. */

import type { Kind } from "../../../bus/kube/kind.ts";

/** Tells a worker which CRDs are certainly installed: those with this digest need no look. */
export const crdDigestVariable = "DENREI_DEV_CRDS";

/** Tells a worker that the CRDs may lose what its code does not have any more, if it is `drop`: nobody else uses the cluster. */
export const lostFieldsVariable = "DENREI_DEV_LOST_FIELDS";

/** Tells a worker that those with other code take no more requests: it is to ask for every object. */
export const askSignal = "SIGUSR2";

/** A kind, as the API server's paths name it. */
export type Resource = Pick<Kind, "plural" | "group">;

/** What a worker says of its code before it takes the first request, in a record called `declared`. */
export interface Declared {
  readonly functions: readonly string[];
  /** The kinds that the code defines. */
  readonly resources: readonly Resource[];
  /** Digest of their CRDs. */
  readonly crds: string;
  /** Digest of all that a bridge for these functions does. */
  readonly bridge: string;
}

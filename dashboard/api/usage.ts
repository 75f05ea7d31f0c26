/** The API for the usage of pods. */

/** `GET /api/usage?namespace=&labelSelector=` */
export interface PodUsages {
  readonly pods: readonly {
    readonly name: string;
    /** Quantities of Kubernetes, such as `12500000n` and `45Mi`; empty if unknown. */
    readonly containers: readonly { readonly cpu: string; readonly memory: string }[];
  }[];
}

/** Types of built-in Kubernetes kinds. */
import type { KubeObject } from "denrei/kinds";

/** An Event of `events.k8s.io/v1`: the fields that the page shows. */
export interface EventObject extends KubeObject {
  readonly type?: "Normal" | "Warning";
  readonly reason?: string;
  readonly note?: string;
  readonly eventTime?: string;
  readonly deprecatedLastTimestamp?: string;
  readonly deprecatedCount?: number;
  readonly series?: { readonly count?: number; readonly lastObservedTime?: string };
  readonly reportingController?: string;
  readonly regarding?: { readonly kind?: string; readonly name?: string; readonly uid?: string };
}

/** An entry of `containerStatuses`. */
export interface ContainerStatus {
  readonly name: string;
  readonly image?: string;
  readonly ready?: boolean;
  readonly restartCount?: number;
  readonly state?: {
    readonly waiting?: { readonly reason?: string; readonly message?: string };
    readonly running?: { readonly startedAt?: string };
    readonly terminated?: {
      readonly exitCode: number;
      readonly reason?: string;
      readonly message?: string;
      readonly startedAt?: string;
      readonly finishedAt?: string;
    };
  };
}

/** A Pod: the fields that the page shows. */
export type PodObject = KubeObject<
  {
    readonly nodeName?: string;
    readonly containers?: readonly {
      readonly name: string;
      readonly image?: string;
      readonly resources?: { readonly limits?: Readonly<Record<string, string>> };
    }[];
    readonly initContainers?: readonly { readonly name: string; readonly image?: string }[];
  },
  {
    readonly phase?: string;
    readonly message?: string;
    readonly reason?: string;
    readonly podIP?: string;
    readonly containerStatuses?: readonly ContainerStatus[];
    readonly initContainerStatuses?: readonly ContainerStatus[];
  }
>;

/** A Service: the fields that the page shows. */
export type ServiceObject = KubeObject<
  { readonly type?: string },
  { readonly loadBalancer?: { readonly ingress?: readonly object[] } }
>;

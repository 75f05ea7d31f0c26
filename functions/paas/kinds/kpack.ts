/** kpack's kinds, with the fields that are used: https://github.com/buildpacks-community/kpack/tree/v0.17.2/docs */
import { externalKind, type KubeObject } from "denrei/kinds";

const group = "kpack.io";
const version = "v1alpha2";

/** A condition of Knative's shape: reason and message may be missing. */
export interface KpackCondition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

/**
 * Fields of conditions that the bridge publishes. Messages and the states of steps are left out: they quote the output of a build,
 * with credentials that only the RemoteSync knows how to redact.
 */
const conditions = ["type", "status", "reason", "lastTransitionTime"].map(
  (field) => `status.conditions.${field}`,
);

/** kpack's Image: its source, its builder, and the repository that it is pushed to. */
export type Image = KubeObject<
  {
    readonly tag: string;
    readonly additionalTags?: readonly string[];
    readonly builder: { readonly kind: string; readonly name: string };
    readonly serviceAccountName: string;
    readonly source: {
      readonly git: { readonly url: string; readonly revision: string };
      readonly subPath?: string;
    };
    readonly [field: string]: unknown;
  },
  {
    readonly observedGeneration?: number;
    readonly latestImage?: string;
    /** Name of the PersistentVolumeClaim of the cache. Not on the bus. */
    readonly buildCacheName?: string;
    readonly conditions?: readonly KpackCondition[];
  }
>;
export const Image = externalKind<Image>({
  group,
  version,
  kind: "Image",
  plural: "images",
  fields: ["spec", "status.observedGeneration", "status.latestImage", ...conditions],
});

/** One run of a build. */
export type Build = KubeObject<
  { readonly source?: { readonly git?: { readonly revision?: string } }; readonly tags?: readonly string[] },
  {
    readonly conditions?: readonly KpackCondition[];
    readonly latestImage?: string;
    readonly podName?: string;
    readonly stepsCompleted?: readonly string[];
  }
>;
export const Build = externalKind<Build>({
  group,
  version,
  kind: "Build",
  plural: "builds",
  fields: [
    "spec.source.git.revision",
    "status.latestImage",
    "status.podName",
    "status.stepsCompleted",
    ...conditions,
  ],
});

/**
 * The kinds of kpack v0.17.2 (kpack.io/v1alpha2) and of Kubernetes that the simulator uses. Not simulated: ClusterStack,
 * ClusterStore, ClusterLifecycle, Buildpack, and ClusterBuildpack. Sources other than git are passed on unchanged.
 */
import { externalKind, type KubeObject, type Scope } from "denrei/kinds";

/** kpack's API group. */
export const group = "kpack.io";
/** The stored version, and the only one that the webhooks handle. */
export const version = "v1alpha2";

/** A knative condition; all fields except type and status may be missing. */
export interface Condition {
  type: string;
  status: "True" | "False" | "Unknown";
  reason?: string;
  message?: string;
  lastTransitionTime?: string | null;
}

/** The source: exactly one of git, blob, and registry. */
export interface Source {
  git?: { url: string; revision: string; initializeSubmodules?: boolean };
  blob?: Record<string, unknown>;
  registry?: Record<string, unknown>;
  subPath?: string;
}

/** Settings of an Image's build pods. */
export interface ImageBuild {
  env?: { name: string; value?: string; valueFrom?: Record<string, unknown> }[];
  resources?: Record<string, unknown>;
  services?: Record<string, unknown>[];
  cnbBindings?: Record<string, unknown>[];
  tolerations?: Record<string, unknown>[];
  nodeSelector?: Record<string, string>;
  affinity?: Record<string, unknown>;
  runtimeClassName?: string;
  schedulerName?: string;
  buildTimeout?: number;
  creationTime?: string;
}

/** Spec of an Image. */
export interface ImageSpec {
  tag: string;
  additionalTags?: string[];
  builder: { kind: string; name: string; namespace?: string };
  serviceAccountName?: string;
  source: Source;
  cache?: { volume?: { size?: string; storageClassName?: string }; registry?: { tag: string } };
  failedBuildHistoryLimit?: number;
  successBuildHistoryLimit?: number;
  imageTaggingStrategy?: string;
  projectDescriptorPath?: string;
  build?: ImageBuild;
  cosign?: Record<string, unknown>;
  defaultProcess?: string;
}

/** Status of an Image. */
export interface ImageStatus {
  observedGeneration?: number | undefined;
  conditions?: Condition[] | undefined;
  latestBuildRef?: string | undefined;
  latestBuildImageGeneration?: number | undefined;
  latestBuildReason?: string | undefined;
  latestImage?: string | undefined;
  latestStack?: string | undefined;
  buildCounter?: number | undefined;
  buildCacheName?: string | undefined;
}

/** Spec of a Build; immutable. */
export interface BuildSpec {
  tags: string[];
  builder: { image: string };
  runImage: { image: string };
  serviceAccountName: string;
  source: Source;
  cache: { volume?: { persistentVolumeClaimName?: string }; registry?: { tag: string } };
  resources: Record<string, unknown>;
  env?: ImageBuild["env"];
  services?: ImageBuild["services"];
  lastBuild?: { image?: string; cache: Record<string, unknown>; stackId?: string };
  activeDeadlineSeconds?: number;
  [more: string]: unknown;
}

/** Exactly one of waiting, running, and terminated. */
export interface ContainerState {
  waiting?: { reason?: string; message?: string };
  running?: { startedAt: string };
  terminated?: {
    exitCode: number;
    reason?: string;
    message?: string;
    startedAt?: string;
    finishedAt?: string;
  };
}

/** A buildpack and its version. */
export interface BuildpackMetadata {
  id: string;
  version: string;
  homepage?: string;
}

/** Status of a Build. */
export interface BuildStatus {
  observedGeneration?: number;
  conditions?: Condition[];
  podName?: string;
  stepStates?: ContainerState[];
  stepsCompleted?: string[];
  latestImage?: string;
  lifecycleVersion?: string;
  stack?: { id?: string; runImage?: string };
  buildMetadata?: BuildpackMetadata[];
}

/** Status of a SourceResolver. */
export interface SourceResolverStatus {
  observedGeneration?: number;
  conditions?: Condition[];
  source?: {
    git?: NonNullable<Source["git"]> & { type: string; subPath?: string };
    blob?: Record<string, unknown>;
    registry?: Record<string, unknown>;
  };
}

/** Status of a builder. */
export interface BuilderStatus {
  observedGeneration?: number;
  conditions?: Condition[];
  latestImage?: string;
  stack?: { id: string; runImage: string };
  builderMetadata?: BuildpackMetadata[];
  lifecycle?: { version: string };
  observedStackGeneration?: number;
  observedStoreGeneration?: number;
}

/** The used fields of Kubernetes' ContainerStatus. */
export interface ContainerStatus {
  name: string;
  image: string;
  imageID: string;
  ready: boolean;
  restartCount: number;
  state: ContainerState;
}

/** The used fields of Kubernetes' PodStatus. */
export interface PodStatus {
  phase?: string;
  reason?: string;
  message?: string;
  initContainerStatuses?: ContainerStatus[];
  containerStatuses?: ContainerStatus[];
  [more: string]: unknown;
}

/** The used fields of Kubernetes' PodSpec. */
export interface PodSpec {
  nodeName?: string;
  initContainers?: { name: string; image: string }[];
  containers: { name: string; image: string }[];
  [more: string]: unknown;
}

/** Object types; the kinds below have the same names. */
export type Image = KubeObject<ImageSpec, ImageStatus>;
export type Build = KubeObject<BuildSpec, BuildStatus>;
export type SourceResolver = KubeObject<{ serviceAccount: string; source: Source }, SourceResolverStatus>;
export type Builder = KubeObject<
  { tag?: string; stack?: { kind: string; name: string }; [more: string]: unknown },
  BuilderStatus
>;
export type Pod = KubeObject<PodSpec, PodStatus>;
export type StorageClass = KubeObject;
export type ServiceAccount = KubeObject & {
  secrets?: { name?: string }[];
  imagePullSecrets?: { name?: string }[];
};

const kpackKind = <T extends KubeObject>(kind: string, scope: Scope = "Namespaced") =>
  externalKind<T>({ group, version, kind, plural: `${kind.toLowerCase()}s`, scope });

export const Image = kpackKind<Image>("Image");
export const Build = kpackKind<Build>("Build");
export const SourceResolver = kpackKind<SourceResolver>("SourceResolver");
export const Builder = kpackKind<Builder>("Builder");
export const ClusterBuilder = kpackKind<Builder>("ClusterBuilder", "Cluster");

const core = { group: "", version: "v1" };
export const Pod = externalKind<Pod>({ ...core, kind: "Pod", plural: "pods" });
export const Node = externalKind({ ...core, kind: "Node", plural: "nodes", scope: "Cluster" });
export const ServiceAccount = externalKind<ServiceAccount>({
  ...core,
  kind: "ServiceAccount",
  plural: "serviceaccounts",
});
export const PersistentVolumeClaim = externalKind({
  ...core,
  kind: "PersistentVolumeClaim",
  plural: "persistentvolumeclaims",
});
export const StorageClass = externalKind<StorageClass>({
  group: "storage.k8s.io",
  version: "v1",
  kind: "StorageClass",
  plural: "storageclasses",
  scope: "Cluster",
});

/**
 * `denrei/kubernetes`: clients of the API server, for tools. Functions use `ctx` instead.
 *
 * @packageDocumentation
 */
import "../nodeversion.ts";

export {
  type ApplyOptions,
  type DeleteOptions,
  type KubeClient,
  kubeClient,
  type ListPage,
  metadataOnly,
  type ObjectName,
  type PatchOptions,
  type PodLogOptions,
  resourcePath,
  type WatchRequest,
  type WriteOptions,
} from "../kube/client.ts";
export { type Credentials, type KubeConnection, openConnection, type PoolRole } from "../kube/connection.ts";
export { convertObject } from "../kube/conversion/convert.ts";
export type { Action, Denial, DenialCause } from "../kube/denial.ts";
export {
  ApiError,
  type ApiErrorDetails,
  ApiUnreachableError,
  CredentialsError,
  isAbsence,
  isAlreadyExists,
  isConflict,
  isForbidden,
  isGone,
  isNotFound,
  type StatusBody,
  type StatusCause,
} from "../kube/errors.ts";
export {
  type FoundObject,
  type FoundObjects,
  objectsOf,
  objectsWithFinalizer,
  removeFinalizer,
  servedKinds,
} from "../kube/finalizers.ts";
export { CrdDowngradeError, type InstallOptions, installCrds } from "../kube/install.ts";
export type { KindVersion } from "../kube/kindversions.ts";
export {
  type Access,
  type Kubeconfig,
  KubeconfigError,
  type KubeconfigSource,
  loadKubeconfig,
  type TlsOptions,
} from "../kube/kubeconfig.ts";
export type { RequestHeaders } from "../kube/kubeconfiguser.ts";
export { amountOf } from "../kube/matchesdesired.ts";
export type { Unstored } from "../kube/object.ts";
export { aligned, kubectlTable } from "../kube/table.ts";
export type { ApiRequest, Call, Caller, CallObserver, CallOutcome } from "../kube/transport.ts";
export { type WatchEvent, watchEvents } from "../kube/watchstream.ts";
export { connectCluster } from "../process/cluster.ts";

/** `denrei/kubernetes`: clients of the API server, for tools. Functions use `ctx` instead. */
import "../nodeversion.ts";

export { type KubeClient, kubeClient, metadataOnly, type ObjectName, resourcePath } from "../kube/client.ts";
export { openConnection } from "../kube/connection.ts";
export { convertObject } from "../kube/conversion/convert.ts";
export {
  ApiError,
  ApiUnreachableError,
  CredentialsError,
  isAbsence,
  isAlreadyExists,
  isConflict,
  isForbidden,
  isGone,
  isNotFound,
  type StatusBody,
} from "../kube/errors.ts";
export {
  type FoundObject,
  objectsOf,
  objectsWithFinalizer,
  removeFinalizer,
  servedKinds,
} from "../kube/finalizers.ts";
export { CrdDowngradeError, installCrds } from "../kube/install.ts";
export type { KindVersion } from "../kube/kindversions.ts";
export { KubeconfigError, type KubeconfigSource, loadKubeconfig } from "../kube/kubeconfig.ts";
export { amountOf } from "../kube/matchesdesired.ts";
export { aligned, kubectlTable } from "../kube/table.ts";
export type { ApiRequest } from "../kube/transport.ts";
export { type WatchEvent, watchEvents } from "../kube/watchstream.ts";
export { connectCluster } from "../process/cluster.ts";

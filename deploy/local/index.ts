/**
 * The embedded local platform: real etcd, kube-apiserver, kube-controller-manager, and nats-server as child processes,
 * without Docker. With `nodes`, also kube-scheduler and kwok.
 *
 * @example
 * const platform = await startLocalPlatform({
 *   onProgress: ({ binary, phase, detail }) => console.log(binary, phase, detail),
 * });
 * const worker = await platform.spawn({
 *   name: "worker-1",
 *   command: process.execPath,
 *   args: ["worker.ts"],
 *   env: { KUBECONFIG: platform.kubeconfigPath, NATS_URL: platform.natsUrlFor("worker") },
 * });
 * await platform.apiserver.stop("SIGKILL"); // a fault
 * await platform.apiserver.start(); // same port, same data
 * await platform.stop();
 */

export { ChecksumMismatchError } from "./binaries/download.ts";
export { BinaryUnavailableError, obtainBinaries } from "./binaries/obtain.ts";
export type { Progress } from "./binaries/progress.ts";
export type { Binary, ObtainOptions } from "./binaries/request.ts";
export type { ControlPlane } from "./controlplane.ts";
export type { Issuer, IssuerEnvironment } from "./identities.ts";
export type { NodeParts } from "./nodes.ts";
export { type Kwok, kwokNodeAnnotation, notReadyAnnotation, podLogLine } from "./parts/kwok.ts";
export type { NatsStorage } from "./parts/nats.ts";
export { freePort, holdPort } from "./parts/ports.ts";
export {
  type LocalNats,
  type LocalNatsOptions,
  type LocalPlatform,
  type LocalPlatformOptions,
  type LocalProcesses,
  type PlatformProgress,
  startLocalNats,
  startLocalPlatform,
  startLocalProcesses,
} from "./platform.ts";
export { type Child, type ChildSpec, ChildStartError, describeExit, type Exit } from "./run/child.ts";
export { projectRoles } from "./users.ts";
export { type BinaryName, type ChosenVersions, type PartName, versions } from "./versions.ts";

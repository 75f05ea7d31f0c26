/** kubelet and kube-proxy. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stringify } from "yaml";
import type { Child } from "../run/child.ts";
import type { Run } from "../run/run.ts";
import { addresses } from "./network.ts";
import { nodeName } from "./ready.ts";

/** Options of both programs. */
export interface NodeProgram {
  readonly binary: string;
  readonly kubeconfigPath: string;
  /** PATH and LD_LIBRARY_PATH with the programs that they run, such as mount and nft. */
  readonly env: Readonly<Record<string, string>>;
}

/** Options of kubelet. */
export interface KubeletProgram extends NodeProgram {
  /** Path of the authority's certificate. */
  readonly ca: string;
  readonly socket: string;
  /** In kubelet's notation: from the root of the hierarchy, with a leading slash. */
  readonly cgroupRoot: string;
}

/** Starts kubelet and waits until it is healthy, which does not mean that the node is ready. */
export async function startKubelet(
  run: Run,
  { binary, kubeconfigPath, env, ...settings }: KubeletProgram,
): Promise<Child> {
  const folder = join(run.directory, "kubelet");
  await mkdir(join(folder, "logs"), { recursive: true });
  const config = join(folder, "config.yaml");
  await writeFile(config, stringify(kubeletConfiguration({ folder, ...settings })));
  const kubelet = run.child({
    name: "kubelet",
    command: binary,
    args: [
      `--config=${config}`,
      `--kubeconfig=${kubeconfigPath}`,
      `--root-dir=${join(folder, "root")}`,
      `--cert-dir=${join(folder, "pki")}`,
      `--hostname-override=${nodeName}`,
      `--node-ip=${addresses.node}`,
    ],
    env,
    ready: async () => {
      const answer = await fetch(`http://127.0.0.1:${healthPort}/healthz`);
      if (!answer.ok) throw new Error(`/healthz returned ${answer.status}: ${await answer.text()}`);
    },
    readyMillis: 60_000,
    graceMillis: 5000,
  });
  await kubelet.start();
  return kubelet;
}

/** Fixed, because kubelet is alone in this network namespace. */
const healthPort = 10248;

type KubeletSettings = Pick<KubeletProgram, "ca" | "socket" | "cgroupRoot"> & { readonly folder: string };

/** https://kubernetes.io/docs/reference/config-api/kubelet-config.v1beta1/ */
const kubeletConfiguration = ({ folder, ca, socket, cgroupRoot }: KubeletSettings) => ({
  apiVersion: "kubelet.config.k8s.io/v1beta1",
  kind: "KubeletConfiguration",
  authentication: { anonymous: { enabled: false }, webhook: { enabled: true }, x509: { clientCAFile: ca } },
  authorization: { mode: "Webhook" },
  containerRuntimeEndpoint: `unix://${socket}`,
  cgroupDriver: "cgroupfs",
  cgroupRoot,
  // Machines with cgroup v1 are still common.
  failCgroupV1: false,
  failSwapOn: false,
  // The disk is the machine's and may be almost full.
  evictionHard: { "memory.available": "50Mi", "nodefs.available": "1%", "imagefs.available": "1%" },
  imageGCHighThresholdPercent: 100,
  healthzBindAddress: "127.0.0.1",
  healthzPort: healthPort,
  podLogsDir: join(folder, "logs"),
  volumePluginDir: join(folder, "volumeplugins"),
  // Sysctls and out-of-memory scores are the machine's.
  protectKernelDefaults: false,
  makeIPTablesUtilChains: false,
  oomScoreAdj: 0,
  resolvConf: "",
  seccompDefault: true,
  maxPods: 110,
  cpuManagerPolicy: "none",
  enforceNodeAllocatable: ["pods"],
  nodeStatusUpdateFrequency: "2s",
  syncFrequency: "10s",
});

/** Starts kube-proxy, which routes Service addresses to pods. */
export async function startProxy(run: Run, { binary, kubeconfigPath, env }: NodeProgram): Promise<Child> {
  const config = join(run.directory, "kube-proxy.yaml");
  await writeFile(config, stringify(proxyConfiguration(kubeconfigPath)));
  const proxy = run.child({
    name: "kube-proxy",
    command: binary,
    args: [`--config=${config}`, `--hostname-override=${nodeName}`],
    env,
    ready: async () => {
      const answer = await fetch("http://127.0.0.1:10256/healthz");
      if (!answer.ok) throw new Error(`/healthz returned ${answer.status}`);
    },
    readyMillis: 60_000,
    closingSignal: "SIGKILL",
  });
  await proxy.start();
  return proxy;
}

/** https://kubernetes.io/docs/reference/config-api/kube-proxy-config.v1alpha1/ */
const proxyConfiguration = (kubeconfig: string) => ({
  apiVersion: "kubeproxy.config.k8s.io/v1alpha1",
  kind: "KubeProxyConfiguration",
  mode: "nftables",
  bindAddress: addresses.node,
  healthzBindAddress: "127.0.0.1:10256",
  metricsBindAddress: "127.0.0.1:10249",
  clientConnection: { kubeconfig },
  clusterCIDR: addresses.pods,
  // The connection tracking table is the machine's, so a temporary node must not resize it.
  conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: "0s", tcpCloseWaitTimeout: "0s" },
});

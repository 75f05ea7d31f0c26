/** Where each program is published and how it is built. */
import { type BinaryName, versions } from "../versions.ts";

/** Operating system and architecture in Go's terms, which name releases and cache entries. */
export interface Target {
  readonly os: string;
  readonly arch: string;
}

/** The machine of this process. */
export function thisTarget(): Target {
  const arch = { x64: "amd64", ia32: "386" }[process.arch as string] ?? process.arch;
  return { os: process.platform === "win32" ? "windows" : process.platform, arch };
}

/** Base URLs of the hosts that publish releases, without a trailing slash. */
export interface ReleaseHosts {
  readonly kubernetes: string;
  readonly github: string;
  readonly githubApi: string;
  readonly helm: string;
}

/** The official hosts, unless `DENREI_RELEASES_KUBERNETES`, `_GITHUB`, `_GITHUB_API` or `_HELM` name mirrors. */
export function releaseHosts(env: NodeJS.ProcessEnv): ReleaseHosts {
  return {
    kubernetes: env.DENREI_RELEASES_KUBERNETES ?? "https://dl.k8s.io",
    github: env.DENREI_RELEASES_GITHUB ?? "https://github.com",
    githubApi: env.DENREI_RELEASES_GITHUB_API ?? "https://api.github.com",
    helm: env.DENREI_RELEASES_HELM ?? "https://get.helm.sh",
  };
}

/** A published file: a program, or an archive with a program. */
export interface Release {
  readonly url: string;
  /** Document with the file's SHA-256: the digest alone, `sha256sum` output, or GitHub's release JSON. */
  readonly checksumUrl: string;
  /** Path of the program within the archive; undefined when the file is the program itself. */
  readonly member?: string;
}

/** A program's package within a pinned module. */
export interface GoPackage {
  /** The folder in `tools`. Programs with the same libraries share a module, so Go compiles each library once. */
  readonly module: string;
  readonly path: string;
  readonly ldflags: string;
  readonly tags?: string;
  /** Whether `go install` can build other versions than the pinned one. Go rejects that for modules with `replace` directives. */
  readonly installable?: boolean;
  /** The version of the module, if it differs from the program's. */
  readonly moduleVersion?: string;
}

/** How to obtain one program. */
export interface CatalogueEntry {
  /** The release for a target, or undefined when none is published. */
  release(target: Target, hosts: ReleaseHosts, version?: string): Release | undefined;
  readonly goPackage: GoPackage;
}

/** Without these, Kubernetes built from its module reports version v0.0.0, which misleads clients. */
function kubernetesLdflags(): string {
  const [major, minor] = versions["kube-apiserver"].split(".");
  const variables = {
    gitVersion: `v${versions["kube-apiserver"]}`,
    gitMajor: major,
    gitMinor: minor,
    gitTreeState: "clean",
    gitCommit: "unknown",
  };
  const settings = Object.entries(variables).map(
    ([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`,
  );
  return ["-s -w", ...settings].join(" ");
}

function kubernetes(name: Extract<BinaryName, `kube${string}`>): CatalogueEntry {
  return {
    release({ os, arch }, hosts) {
      // Kubernetes publishes server binaries for Linux only.
      if (os !== "linux") return undefined;
      const url = `${hosts.kubernetes}/v${versions[name]}/bin/${os}/${arch}/${name}`;
      return { url, checksumUrl: `${url}.sha256` };
    },
    goPackage: { module: "kubernetes", path: `k8s.io/kubernetes/cmd/${name}`, ldflags: kubernetesLdflags() },
  };
}

/** Every program, by name. */
export const catalogue: Readonly<Record<BinaryName, CatalogueEntry>> = {
  "kube-apiserver": kubernetes("kube-apiserver"),
  "kube-controller-manager": kubernetes("kube-controller-manager"),
  "kube-scheduler": kubernetes("kube-scheduler"),
  "kube-proxy": kubernetes("kube-proxy"),
  kubelet: kubernetes("kubelet"),
  etcd: {
    release({ os, arch }, hosts) {
      const folder = `etcd-v${versions.etcd}-${os}-${arch}`;
      const base = `${hosts.github}/etcd-io/etcd/releases/download/v${versions.etcd}`;
      const archive = os === "linux" ? `${folder}.tar.gz` : `${folder}.zip`;
      return { url: `${base}/${archive}`, checksumUrl: `${base}/SHA256SUMS`, member: `${folder}/etcd` };
    },
    goPackage: { module: "etcd", path: "go.etcd.io/etcd/server/v3", ldflags: "-s -w" },
  },
  "nats-server": {
    release({ os, arch }, hosts) {
      const folder = `nats-server-v${versions["nats-server"]}-${os}-${arch}`;
      const base = `${hosts.github}/nats-io/nats-server/releases/download/v${versions["nats-server"]}`;
      return {
        url: `${base}/${folder}.tar.gz`,
        checksumUrl: `${base}/SHA256SUMS`,
        member: `${folder}/nats-server`,
      };
    },
    goPackage: { module: "nats", path: "github.com/nats-io/nats-server/v2", ldflags: "-s -w" },
  },
  kwok: {
    release({ os, arch }, hosts) {
      const repository = "kubernetes-sigs/kwok";
      return {
        url: `${hosts.github}/${repository}/releases/download/v${versions.kwok}/kwok-${os}-${arch}`,
        // The release has no list of checksums, but GitHub reports the digest of each asset.
        checksumUrl: `${hosts.githubApi}/repos/${repository}/releases/tags/v${versions.kwok}`,
      };
    },
    goPackage: { module: "kubernetes", path: "sigs.k8s.io/kwok/cmd/kwok", ldflags: "-s -w" },
  },
  nats: {
    release({ os, arch }, hosts) {
      const folder = `nats-${versions.nats}-${os}-${arch}`;
      const base = `${hosts.github}/nats-io/natscli/releases/download/v${versions.nats}`;
      return { url: `${base}/${folder}.zip`, checksumUrl: `${base}/SHA256SUMS`, member: `${folder}/nats` };
    },
    goPackage: {
      module: "clients",
      path: "github.com/nats-io/natscli/nats",
      ldflags: `-s -w -X main.version=${versions.nats}`,
    },
  },
  promtool: {
    release({ os, arch }, hosts) {
      const folder = `prometheus-${versions.promtool}.${os}-${arch}`;
      const base = `${hosts.github}/prometheus/prometheus/releases/download/v${versions.promtool}`;
      return {
        url: `${base}/${folder}.tar.gz`,
        checksumUrl: `${base}/sha256sums.txt`,
        member: `${folder}/promtool`,
      };
    },
    goPackage: {
      module: "clients",
      path: "github.com/prometheus/prometheus/cmd/promtool",
      ldflags: `-s -w -X github.com/prometheus/common/version.Version=${versions.promtool}`,
      // Service discovery for clouds makes up most of the build and is not needed here.
      tags: "remove_all_sd",
      // The module version of Prometheus 3.16.0. From major version 2 on, Go requires the version in the module name.
      moduleVersion: "0.316.0",
    },
  },
  kind: {
    release({ os, arch }, hosts, version = versions.kind) {
      const url = `${hosts.github}/kubernetes-sigs/kind/releases/download/v${version}/kind-${os}-${arch}`;
      return { url, checksumUrl: `${url}.sha256sum` };
    },
    goPackage: { module: "kind", path: "sigs.k8s.io/kind", ldflags: "-s -w", installable: true },
  },
  kubectl: {
    release({ os, arch }, hosts) {
      const program = os === "windows" ? "kubectl.exe" : "kubectl";
      const url = `${hosts.kubernetes}/v${versions.kubectl}/bin/${os}/${arch}/${program}`;
      return { url, checksumUrl: `${url}.sha256` };
    },
    goPackage: { module: "kubernetes", path: "k8s.io/kubernetes/cmd/kubectl", ldflags: kubernetesLdflags() },
  },
  skaffold: {
    release({ os, arch }, hosts, version = versions.skaffold) {
      const program = `skaffold-${os}-${arch}${os === "windows" ? ".exe" : ""}`;
      const url = `${hosts.github}/GoogleContainerTools/skaffold/releases/download/v${version}/${program}`;
      return { url, checksumUrl: `${url}.sha256` };
    },
    goPackage: {
      module: "skaffold",
      path: "github.com/GoogleContainerTools/skaffold/v2/cmd/skaffold",
      ldflags: `-s -w -X github.com/GoogleContainerTools/skaffold/v2/pkg/skaffold/version.version=v${versions.skaffold}`,
    },
  },
  helm: {
    release({ os, arch }, hosts) {
      const url = `${hosts.helm}/helm-v${versions.helm}-${os}-${arch}.${os === "windows" ? "zip" : "tar.gz"}`;
      return { url, checksumUrl: `${url}.sha256sum`, member: `${os}-${arch}/helm` };
    },
    goPackage: {
      module: "clients",
      path: "helm.sh/helm/v3/cmd/helm",
      ldflags: `-s -w -X helm.sh/helm/v3/internal/version.version=v${versions.helm}`,
    },
  },
};

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type BinaryName, versions } from "../versions.ts";
import { catalogue, releaseHosts } from "./catalogue.ts";
import { recordedChecksums } from "./checksums.ts";
import { toolsDirectory } from "./gobuild.ts";

const names = Object.keys(catalogue) as BinaryName[];

describe("the pinned Go modules", () => {
  const goModule = (name: BinaryName) =>
    readFileSync(join(toolsDirectory, catalogue[name].goPackage.module, "go.mod"), "utf8");

  test.each(names)("require the version of %s in versions.ts", (name) => {
    const { path, moduleVersion = versions[name] } = catalogue[name].goPackage;
    const required = [...goModule(name).matchAll(/^\s*(?:require )?(\S+) v(\S+)( \/\/ indirect)?$/gm)]
      .map(([, module = "", version]) => ({ module, version }))
      .filter(({ module }) => path === module || path.startsWith(`${module}/`));
    expect(required).toEqual([{ module: expect.any(String), version: moduleVersion }]);
  });

  test.each(names)("name the package of %s as a tool", (name) => {
    const tools = goModule(name)
      .match(/^(tool|\t)\s*\S+$/gm)
      ?.map((line) => line.split(/\s+/).at(-1));
    expect(tools).toContain(catalogue[name].goPackage.path);
  });

  test("replace every staging module of Kubernetes with the matching version", () => {
    const [, minor, patch] = versions["kube-apiserver"].split(".");
    const replaced = [...goModule("kube-apiserver").matchAll(/=> k8s\.io\/\S+ (\S+)/g)].map(
      (match) => match[1],
    );
    expect(replaced.length).toBeGreaterThan(20);
    expect(new Set(replaced)).toEqual(new Set([`v0.${minor}.${patch}`]));
  });
});

describe("releases", () => {
  const hosts = releaseHosts({});
  const urls = (os: string, arch: string) =>
    Object.fromEntries(names.map((name) => [name, catalogue[name].release({ os, arch }, hosts)?.url]));

  test("for Linux", () => {
    expect(urls("linux", "amd64")).toEqual({
      "kube-apiserver": "https://dl.k8s.io/v1.36.3/bin/linux/amd64/kube-apiserver",
      "kube-controller-manager": "https://dl.k8s.io/v1.36.3/bin/linux/amd64/kube-controller-manager",
      "kube-scheduler": "https://dl.k8s.io/v1.36.3/bin/linux/amd64/kube-scheduler",
      "kube-proxy": "https://dl.k8s.io/v1.36.3/bin/linux/amd64/kube-proxy",
      kubelet: "https://dl.k8s.io/v1.36.3/bin/linux/amd64/kubelet",
      etcd: "https://github.com/etcd-io/etcd/releases/download/v3.7.3/etcd-v3.7.3-linux-amd64.tar.gz",
      "nats-server":
        "https://github.com/nats-io/nats-server/releases/download/v2.15.2/nats-server-v2.15.2-linux-amd64.tar.gz",
      kwok: "https://github.com/kubernetes-sigs/kwok/releases/download/v0.8.0/kwok-linux-amd64",
      nats: "https://github.com/nats-io/natscli/releases/download/v0.5.1/nats-0.5.1-linux-amd64.zip",
      promtool:
        "https://github.com/prometheus/prometheus/releases/download/v3.16.0/prometheus-3.16.0.linux-amd64.tar.gz",
      kind: "https://github.com/kubernetes-sigs/kind/releases/download/v0.32.0/kind-linux-amd64",
      helm: "https://get.helm.sh/helm-v3.22.0-linux-amd64.tar.gz",
      kubectl: "https://dl.k8s.io/v1.36.3/bin/linux/amd64/kubectl",
      skaffold:
        "https://github.com/GoogleContainerTools/skaffold/releases/download/v2.16.1/skaffold-linux-amd64",
    });
  });

  test("for macOS, without Kubernetes servers and with another archive format of etcd", () => {
    expect(urls("darwin", "arm64")).toEqual({
      "kube-apiserver": undefined,
      "kube-controller-manager": undefined,
      "kube-scheduler": undefined,
      "kube-proxy": undefined,
      kubelet: undefined,
      etcd: "https://github.com/etcd-io/etcd/releases/download/v3.7.3/etcd-v3.7.3-darwin-arm64.zip",
      "nats-server":
        "https://github.com/nats-io/nats-server/releases/download/v2.15.2/nats-server-v2.15.2-darwin-arm64.tar.gz",
      kwok: "https://github.com/kubernetes-sigs/kwok/releases/download/v0.8.0/kwok-darwin-arm64",
      nats: "https://github.com/nats-io/natscli/releases/download/v0.5.1/nats-0.5.1-darwin-arm64.zip",
      promtool:
        "https://github.com/prometheus/prometheus/releases/download/v3.16.0/prometheus-3.16.0.darwin-arm64.tar.gz",
      kind: "https://github.com/kubernetes-sigs/kind/releases/download/v0.32.0/kind-darwin-arm64",
      helm: "https://get.helm.sh/helm-v3.22.0-darwin-arm64.tar.gz",
      kubectl: "https://dl.k8s.io/v1.36.3/bin/darwin/arm64/kubectl",
      skaffold:
        "https://github.com/GoogleContainerTools/skaffold/releases/download/v2.16.1/skaffold-darwin-arm64",
    });
  });
});

test("checksums.json covers exactly the current releases (after a version change, run npm run checksums)", () => {
  const targets = ["linux", "darwin"].flatMap((os) => ["amd64", "arm64"].map((arch) => ({ os, arch })));
  const urls = targets.flatMap((target) =>
    names.map((name) => catalogue[name].release(target, releaseHosts({}))?.url),
  );
  for (const [url, sha256] of Object.entries(recordedChecksums({}))) {
    expect(urls).toContain(url);
    expect(sha256).toMatch(/^[0-9a-f]{64}$/);
  }
  expect(() => recordedChecksums({ DENREI_RELEASES_CHECKSUMS: "/nowhere" })).toThrow("/nowhere");
});

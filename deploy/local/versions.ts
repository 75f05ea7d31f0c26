/** Versions of all programs of the local platform and its tests. A test compares them with the `go.mod` files in `tools`. */
export const versions = {
  "kube-apiserver": "1.36.3",
  "kube-controller-manager": "1.36.3",
  "kube-scheduler": "1.36.3",
  "kube-proxy": "1.36.3",
  kubelet: "1.36.3",
  etcd: "3.7.3",
  "nats-server": "2.15.2",
  kwok: "0.8.0",
  nats: "0.5.1",
  promtool: "3.16.0",
  kind: "0.32.0",
  helm: "3.22.0",
  kubectl: "1.36.3",
  skaffold: "2.16.1",
} as const;

/** A program that can be obtained. */
export type BinaryName = keyof typeof versions;

/** A part of the local platform. */
export type PartName = Exclude<BinaryName, "helm" | "kind" | "kubectl" | "nats" | "promtool" | "skaffold">;

/** Programs for which a caller can choose another version than the pinned one. */
export type ChosenVersions = Readonly<Partial<Record<"kind" | "skaffold", string>>>;

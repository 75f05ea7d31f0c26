/** The options and the interface of a run. */
import type { GitHubOptions, SimulatedGitHub } from "@denrei/simulators/github/github";
import type { Bus } from "denrei/bus";
import type { Kind, KubeObject, Stored } from "denrei/kinds";
import type { KubeClient } from "denrei/kubernetes";
import type { Forward, ForwardTarget } from "./forward.ts";
import type { Kubectl } from "./kubectl.ts";
import type { Manifest } from "./manifest.ts";
import type { Replica, StartReplica } from "./replica.ts";

/** Options of a run. Everything has a default. */
export interface KetOptions {
  /**
   * `local` (the default): a new control plane, without Docker. `kind`: a new cluster in Docker. `existing`: the cluster of KUBECONFIG, if
   * its context is among {@link KetOptions.allowContexts}.
   */
  readonly cluster?: "local" | "kind" | "existing" | undefined;
  /** Names of functions of the project, and paths or URLs of modules whose default export is a function. */
  readonly functions?: readonly (string | URL)[] | undefined;
  /** Kinds, CRDs, and paths of files with CRDs. Defaults to the functions' kinds. In an existing cluster they stay installed. */
  readonly crds?: readonly (Kind | Manifest | string | URL)[] | undefined;
  /** The folder that contains the cases. */
  readonly fixtures?: string | URL | undefined;
  /** Simulates GitHub and delivers its webhooks to the functions that subscribe to them. */
  readonly github?: GitHubOptions | undefined;
  /** Contexts of kubeconfigs that tests may write to. */
  readonly allowContexts?: readonly string[] | undefined;
  /**
   * For `existing`: allows functions for cluster-scoped objects, which reconcile every such object there, even of other users. Refused by
   * default.
   */
  readonly allowClusterScoped?: boolean | undefined;
  /** The kubeconfig of the existing cluster. Defaults to KUBECONFIG. */
  readonly kubeconfig?: string | undefined;
  /** The default namespace of objects. Defaults to a new one for the run. */
  readonly namespace?: string | undefined;
  /** The number of workers, each with all functions. Defaults to 1. */
  readonly workers?: number | undefined;
  /**
   * `generated` (the default): each function has exactly the rights that follow from its declaration. `own`: all functions have the
   * rights of the kubeconfig's user, for an existing cluster whose user may not create roles or impersonate accounts.
   */
  readonly rights?: "generated" | "own" | undefined;
  /** Environment of the workers. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** The default deadline of waits, in milliseconds. Defaults to a minute. */
  readonly deadlineMillis?: number | undefined;
  /** For `local`: whether to run kube-controller-manager, such as for garbage collection. Defaults to `run`. */
  readonly controllerManager?: "run" | "omit" | undefined;
  /** For `local`: the number of nodes, on which pods become ready without being run. Defaults to none. */
  readonly nodes?: number | undefined;
  /** For `kind`: the version of kind, such as `0.32.0`. Defaults to the pinned version. `nodeimages.ts` must list node images for it. */
  readonly kindVersion?: string | undefined;
  /**
   * For `kind`: the name of the cluster, at most 50 lowercase letters, digits, `-` and `.`. Defaults to `ket-<id of the run>`. A cluster
   * with that name must not exist. The run removes only nodes that it created itself.
   */
  readonly clusterName?: string | undefined;
  /**
   * For `kind`: the version of Kubernetes, such as `1.36.1`. Defaults to that of the version of kind. kind must have a node image of
   * exactly that version, which is used by its digest.
   */
  readonly kubernetesVersion?: string | undefined;
  /**
   * For `kind`: deploys bus, bridge, workers, and gateway in the cluster with skaffold. By default, the run starts them as processes next
   * to the cluster. Cannot be combined with `github`, `workers`, `env`, and `rights`. The image that skaffold builds must contain each
   * function of {@link KetOptions.functions}.
   */
  readonly skaffold?: SkaffoldOptions | undefined;
  /**
   * How to start a process. For tests of Denrei itself.
   *
   * @internal
   */
  readonly startProcess?: StartReplica | undefined;
}

/** Options of skaffold. Everything has a default. */
export interface SkaffoldOptions {
  /** The version of skaffold, such as `2.16.1`. Defaults to the pinned version; others are downloaded, not built. */
  readonly version?: string | undefined;
  /**
   * The configuration of skaffold. Defaults to `skaffold.yaml` in the working directory, which relative paths in it refer to. The run's
   * cluster takes precedence over a `kubeContext` in it.
   */
  readonly file?: string | URL | undefined;
  /**
   * Manifests, and paths of files with manifests, to apply before the deployment: what it mounts, such as the certificates of the bus
   * (`npx denrei certificates`). Defaults to none.
   */
  readonly before?: readonly (Manifest | string | URL)[] | undefined;
  /** The address of the deployed bus, which the run reaches by `kubectl port-forward`. */
  readonly bus?:
    | {
        /** Defaults to `denrei`. */
        readonly namespace?: string | undefined;
        /** Defaults to `nats`. */
        readonly service?: string | undefined;
        /** Defaults to 4222. */
        readonly port?: number | undefined;
        /** A Secret of that namespace with `ca.crt`, `tls.crt`, and `tls.key`. Defaults to `denrei-operator-tls`. */
        readonly secret?: string | undefined;
      }
    | undefined;
  /** The deadline of build and deployment together, in milliseconds. Defaults to 15 minutes. */
  readonly deadlineMillis?: number | undefined;
}

/** A cluster that the run has created with kind. */
export interface KindCluster {
  readonly name: string;
  /** Its context in the run's kubeconfig. */
  readonly context: string;
  /** Runs kubectl on the cluster. Resolves with its standard output; throws when it fails. */
  kubectl(...args: readonly string[]): Promise<string>;
  /**
   * Forwards a free port of 127.0.0.1 to a port in the cluster until it or the run is stopped. Resolves when the port accepts connections.
   */
  forward(target: ForwardTarget): Promise<Forward>;
}

/** Identifies an object. Without a namespace it is in the run's own. */
export type Ref<T extends KubeObject = KubeObject> = {
  readonly name: string;
  readonly namespace?: string | undefined;
} & ({ readonly kind: Kind<T> } | { readonly kind: string; readonly apiVersion: string });

/** A case whose expectations are met. */
export interface AppliedCase {
  readonly name: string;
  /** The objects of `given.yaml`, as the API server returned them. */
  readonly given: readonly Stored[];
  /** The objects of `expect.yaml` when they matched; undefined for those expected to be absent. */
  readonly found: readonly (Stored | undefined)[];
}

/** A running cluster with bus and functions. */
export interface Ket {
  /** The default namespace of objects. */
  readonly namespace: string;
  /** Path of an administrator's kubeconfig, for programs. */
  readonly kubeconfigPath: string;
  readonly client: KubeClient;
  readonly kubectl: Kubectl;
  /** The bus, with the administrator's connection; where skaffold has deployed it, with the operator's. */
  readonly nats: Bus & { readonly url: string };
  /** Undefined unless the options request it. */
  readonly github: SimulatedGitHub | undefined;
  /** The worker processes of the run; none where skaffold has deployed the workers. */
  readonly workers: readonly Replica[];
  /** The kind cluster; undefined for other clusters. */
  readonly kind: KindCluster | undefined;
  /**
   * Applies `given.yaml` of a case, waits until everything in `expect.yaml` holds at the same time, runs `then`, and always deletes the
   * applied objects. An error contains the objects, their Events, the log of their functions, and the state of their requests.
   */
  apply(fixture: string, then?: (applied: AppliedCase) => unknown, deadlineMillis?: number): Promise<void>;
  /** Resolves with the object when it satisfies a condition or matches an expectation, as in `expect.yaml`. */
  waitFor<T extends KubeObject>(
    ref: Ref<T>,
    condition: ((object: Stored<T>) => boolean) | Readonly<Record<string, unknown>>,
    deadlineMillis?: number,
  ): Promise<Stored<T>>;
  /**
   * Resolves when the object does not exist, which includes kinds that the API server does not serve. Throws an `UnservedKindError` when a
   * kind is given by name and the run has never seen it served: it may be mistyped.
   */
  waitUntilGone(ref: Ref, deadlineMillis?: number): Promise<void>;
  /** Objects of a kind in the run's namespace, or in another one. */
  list<T extends KubeObject>(kind: Kind<T>, namespace?: string): Promise<Stored<T>[]>;
  /** Stops and removes everything. A second call waits for the first. */
  stop(): Promise<void>;
}

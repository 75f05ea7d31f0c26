/** What a run is told, and what it gives. */

import type { KubeClient } from "../../bus/kube/client.ts";
import type { Kind } from "../../bus/kube/kind.ts";
import type { KubeObject, Stored } from "../../bus/kube/object.ts";
import type { Bus } from "../../bus/nats/connect.ts";
import type { SimulatedGitHub, GitHubOptions } from "../../deploy/simulators/github/github.ts";
import type { Replica } from "../harness/kit.ts";
import type { Forward, ForwardTarget } from "./forward.ts";
import type { Kubectl } from "./kubectl.ts";
import type { Manifest } from "./manifest.ts";

/** How to start. Everything has a default. */
export interface KetOptions {
  /**
   * `local`: a control plane of its own, without Docker. `kind`: a cluster of its own in Docker. `existing`: that of
   * KUBECONFIG, if its context is among {@link KetOptions.allowContexts}. `local` unless given.
   */
  readonly cluster?: "local" | "kind" | "existing" | undefined;
  /** Names of shipped functions, and paths or URLs of modules whose default export is a function. */
  readonly functions?: readonly (string | URL)[] | undefined;
  /** Kinds, CRDs, and paths of files with CRDs; those of the functions' kinds unless given. They stay in an existing cluster. */
  readonly crds?: readonly (Kind | Manifest | string | URL)[] | undefined;
  /** The folder that the cases are in. */
  readonly fixtures?: string | URL | undefined;
  /** With it GitHub is played, and its webhooks reach the functions that want some. */
  readonly github?: GitHubOptions | undefined;
  /** Contexts of kubeconfigs that tests may write to. */
  readonly allowContexts?: readonly string[] | undefined;
  /**
   * Of `existing`: functions whose objects are in no namespace may run there, where they reconcile every such object, whoever's
   * it is. They are refused unless given.
   */
  readonly allowClusterScoped?: boolean | undefined;
  /** The kubeconfig of the existing cluster; KUBECONFIG unless given. */
  readonly kubeconfig?: string | undefined;
  /** Where objects are that name no namespace; one of the run's own unless given. */
  readonly namespace?: string | undefined;
  /** Worker processes, each with all of the functions; 1 unless given. */
  readonly workers?: number | undefined;
  /** Settings of the workers. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** How long what is waited for may take, in milliseconds; a minute unless given. */
  readonly deadlineMillis?: number | undefined;
  /** Of `local`: whether there is garbage collection and the like; `run` unless given. */
  readonly controllerManager?: "run" | "omit" | undefined;
  /** Of `local`: nodes, on which pods become ready without being run; none unless given. */
  readonly nodes?: number | undefined;
  /**
   * Of `kind`: the version of kind, such as `0.32.0`. The pinned version unless given. Node images have to be recorded for it
   * in `nodeimages.ts`.
   */
  readonly kindVersion?: string | undefined;
  /**
   * Of `kind`: the name of the cluster, at most 50 lowercase letters, digits, `-` and `.`; `ket-<id of the run>` unless
   * given. A cluster of that name must not exist. The run removes only nodes that it created itself.
   */
  readonly clusterName?: string | undefined;
  /**
   * Of `kind`: the version of Kubernetes, such as `1.36.1`; the default of that version of kind unless given. kind has to have
   * a node image of exactly that version, which is used by its digest.
   */
  readonly kubernetesVersion?: string | undefined;
  /**
   * Of `kind`: deploys bus, bridge, workers, and gateway in the cluster with skaffold. Unless given, the run starts them as
   * processes beside the cluster. Not together with `github`, `workers` and `env`. Each function of
   * {@link KetOptions.functions} has to be in the image that skaffold builds.
   */
  readonly skaffold?: SkaffoldOptions | undefined;
}

/** How to deploy with skaffold. Everything has a default. */
export interface SkaffoldOptions {
  /** The version of skaffold, such as `2.16.1`. The pinned version unless given; others are downloaded, not built. */
  readonly version?: string | undefined;
  /**
   * The configuration of skaffold; `skaffold.yaml` in the working directory unless given. Relative paths in it start at the
   * working directory. The run's cluster takes precedence over a `kubeContext` in it.
   */
  readonly file?: string | URL | undefined;
  /**
   * Manifests, and paths of files with manifests, that are applied before: what the deployment mounts, such as the
   * certificates of the bus (`npx denrei certificates`). None unless given.
   */
  readonly before?: readonly (Manifest | string | URL)[] | undefined;
  /** Where the deployed bus is, which the run reaches by `kubectl port-forward`. */
  readonly bus?:
    | {
        /** `denrei` unless given. */
        readonly namespace?: string | undefined;
        /** `nats` unless given. */
        readonly service?: string | undefined;
        /** 4222 unless given. */
        readonly port?: number | undefined;
        /** A Secret of that namespace with `ca.crt`, `tls.crt` and `tls.key`; `denrei-operator-tls` unless given. */
        readonly secret?: string | undefined;
      }
    | undefined;
  /** How long build and deployment may take together, in milliseconds; 15 minutes unless given. */
  readonly deadlineMillis?: number | undefined;
}

/** A cluster that the run has created with kind. */
export interface KindCluster {
  readonly name: string;
  /** The context of it in the run's kubeconfig. */
  readonly context: string;
  /** Runs the program kubectl on the cluster. Resolves with its standard output, and throws when it fails. */
  kubectl(...args: readonly string[]): Promise<string>;
  /**
   * Forwards a free port of 127.0.0.1 to a port in the cluster until it is stopped, or the run is. Resolves when the port
   * accepts connections.
   */
  forward(target: ForwardTarget): Promise<Forward>;
}

/** Which object. Without a namespace it is in the run's own. */
export type Ref<T extends KubeObject = KubeObject> = {
  readonly name: string;
  readonly namespace?: string | undefined;
} & ({ readonly kind: Kind<T> } | { readonly kind: string; readonly apiVersion: string });

/** A case whose expectations have come true. */
export interface AppliedCase {
  readonly name: string;
  /** The objects of `given.yaml`, as they were answered when they were applied. */
  readonly given: readonly Stored[];
  /** The objects of `expect.yaml`, as they matched; undefined where one is expected to be absent. */
  readonly found: readonly (Stored | undefined)[];
}

/** A running cluster, bus and functions. */
export interface Ket {
  /** Where objects are that name no namespace. */
  readonly namespace: string;
  /** Path of an administrator's kubeconfig, for programs. */
  readonly kubeconfigPath: string;
  readonly client: KubeClient;
  readonly kubectl: Kubectl;
  /** The bus, as its administrator; where skaffold has deployed it, as its operator. */
  readonly nats: Bus & { readonly url: string };
  /** Undefined unless it was asked for. */
  readonly github: SimulatedGitHub | undefined;
  /** The worker processes of the run; none where skaffold has deployed the workers. */
  readonly workers: readonly Replica[];
  /** The cluster of kind; undefined with other clusters. */
  readonly kind: KindCluster | undefined;
  /**
   * Applies `given.yaml` of a case, waits until everything in `expect.yaml` is as it says at the same time, runs `then`,
   * and deletes what was applied, whatever came of it. What goes wrong is told with the objects, their Events, the log of
   * their functions, and where their requests are.
   */
  apply(fixture: string, then?: (applied: AppliedCase) => unknown, deadlineMillis?: number): Promise<void>;
  /** Resolves with the object when it satisfies a condition, or is like it is described: as in `expect.yaml`. */
  waitFor<T extends KubeObject>(
    ref: Ref<T>,
    condition: ((object: Stored<T>) => boolean) | Readonly<Record<string, unknown>>,
    deadlineMillis?: number,
  ): Promise<Stored<T>>;
  /**
   * Resolves when there is no such object; of a kind that the API server does not serve there is none. Throws an
   * `UnservedKindError` when a kind is named by text and the run has never seen it served: it may be mistyped.
   */
  waitUntilGone(ref: Ref, deadlineMillis?: number): Promise<void>;
  /** Objects of a kind in the run's namespace, or in another one. */
  list<T extends KubeObject>(kind: Kind<T>, namespace?: string): Promise<Stored<T>[]>;
  /** Stops everything and removes it. Calling it again waits for the same end. */
  stop(): Promise<void>;
}

/** What a run is told, and what it gives. */
import type { Bus } from "../../../bus/connect.ts";
import type { KubeClient } from "../../../bus/kube/client.ts";
import type { Kind } from "../../../bus/kube/kind.ts";
import type { KubeObject, Stored } from "../../../bus/kube/object.ts";
import type { EmulatedGitHub, GitHubOptions } from "../../github/emulator.ts";
import type { Replica } from "../kit.ts";
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
  /** The bus, as its administrator. */
  readonly nats: Bus & { readonly url: string };
  /** Undefined unless it was asked for. */
  readonly github: EmulatedGitHub | undefined;
  readonly workers: readonly Replica[];
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

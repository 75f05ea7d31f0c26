/** The kubectl operations that tests need, by server-side apply: no program and no output parsing. */
import { render } from "@denrei/cli/helm/kustomize";
import type { Kind, KubeObject, Stored } from "denrei/kinds";
import { isNotFound, type KubeClient } from "denrei/kubernetes";
import { changesOf, failureLines, type ReadFailure } from "./changes.ts";
import { type Discovery, openDiscovery, UnservedKindError } from "./discovery.ts";
import { type Manifest, type Named, nameText, readManifests } from "./manifest.ts";

/** Operations on manifests. Without a namespace, an object is in the run's own. */
export interface Kubectl {
  /** Resolves the kind of a manifest. Throws when the API server does not serve it. */
  readonly kindOf: Discovery;
  apply(...manifests: readonly Manifest[]): Promise<Stored[]>;
  /** Applies the objects of a file in their order. */
  applyFile(path: string): Promise<Stored[]>;
  /** Deletes the objects of all files, and then applies them. */
  applyAllManifests(paths: readonly string[]): Promise<Stored[]>;
  /** Applies the output of a kustomization. */
  applyKustomize(folder: string): Promise<Stored[]>;
  get(named: Named): Promise<Stored>;
  /**
   * Deletes objects in reverse order, then waits until they and their dependents no longer exist. Ignores missing objects and unserved
   * kinds. An object that cannot be deleted does not stop the deletion of the others.
   */
  delete(...named: readonly Named[]): Promise<void>;
  deleteFile(path: string): Promise<void>;
  deleteKustomize(folder: string): Promise<void>;
}

/** Options of the operations. */
export interface KubectlOptions {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly deadlineMillis: number;
  /** How to delete: `Foreground` needs a garbage collector. */
  readonly propagation: "Foreground" | "Background";
}

/** An object whose deletion was requested. */
interface DeletedObject {
  readonly kind: Kind;
  readonly object: Named;
  readonly uid: string;
}

const manager = { fieldManager: "denrei-test", force: "take-ownership" } as const;

/** Resolves with undefined for a missing object. */
const ifThere = <T>(request: Promise<T>): Promise<T | undefined> =>
  request.catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });

/** Receives each applied and each deleted object. */
export interface AppliedObjects {
  add(named: Named): unknown;
  gone(named: Named): unknown;
}

/** Opens the operations. */
export const openKubectl = (options: KubectlOptions, applied: AppliedObjects): Kubectl =>
  new ServerSideKubectl(options, applied);

class ServerSideKubectl implements Kubectl {
  readonly kindOf: Discovery;
  readonly #options: KubectlOptions;
  readonly #applied: AppliedObjects;

  constructor(options: KubectlOptions, applied: AppliedObjects) {
    this.kindOf = openDiscovery(options.client);
    this.#options = options;
    this.#applied = applied;
  }

  async apply(...manifests: readonly Manifest[]): Promise<Stored[]> {
    const stored: Stored[] = [];
    for (const manifest of manifests) stored.push(await this.#applyOne(manifest));
    return stored;
  }

  async applyFile(path: string): Promise<Stored[]> {
    return this.apply(...(await readManifests(path)));
  }

  async applyAllManifests(paths: readonly string[]): Promise<Stored[]> {
    const manifests = (await Promise.all(paths.map(readManifests))).flat();
    await this.delete(...manifests);
    return this.apply(...manifests);
  }

  async applyKustomize(folder: string): Promise<Stored[]> {
    return this.apply(...(await render<Manifest>(folder)));
  }

  async get(named: Named): Promise<Stored> {
    const { kind, object } = await this.#located(named);
    return this.#options.client.get(kind, object.metadata);
  }

  async delete(...named: readonly Named[]): Promise<void> {
    const failed: unknown[] = [];
    const deleted: DeletedObject[] = [];
    for (const one of named.toReversed()) {
      try {
        const requested = await this.#requestDeletion(one);
        if (requested) deleted.push(requested);
      } catch (error) {
        if (!(error instanceof UnservedKindError)) failed.push(error);
      }
    }
    // Concurrently: one object may stay until another is deleted.
    for (const one of await Promise.allSettled(deleted.map((object) => this.#untilGone(object))))
      if (one.status === "rejected") failed.push(one.reason);
    if (failed.length > 0)
      throw failed.length === 1 ? failed[0] : new AggregateError(failed, failed.join("\n"));
  }

  async deleteFile(path: string): Promise<void> {
    await this.delete(...(await readManifests(path)));
  }

  async deleteKustomize(folder: string): Promise<void> {
    await this.delete(...(await render<Manifest>(folder)));
  }

  /** The kind of an object, and the object with its namespace. */
  async #located<T extends Named>(named: T): Promise<{ readonly kind: Kind; readonly object: T }> {
    const kind = await this.kindOf(named.apiVersion, named.kind);
    if (kind.scope === "Cluster") return { kind, object: named };
    const { namespace } = this.#options;
    return { kind, object: { ...named, metadata: { namespace, ...named.metadata } } };
  }

  async #applyOne(manifest: Manifest): Promise<Stored> {
    const { kind, object } = await this.#located(manifest);
    this.#applied.add(object);
    return this.#options.client.apply(kind, object as unknown as KubeObject, manager);
  }

  /** Resolves with the object unless it was already missing. */
  async #requestDeletion(named: Named): Promise<DeletedObject | undefined> {
    const { client, propagation } = this.#options;
    const { kind, object } = await this.#located(named);
    const existing = await ifThere(client.get(kind, object.metadata));
    if (existing === undefined) {
      this.#applied.gone(object);
      return undefined;
    }
    const { uid } = existing.metadata;
    await ifThere(client.delete(kind, object.metadata, { uid, propagation }));
    return { kind, object, uid };
  }

  /** Checks the UID, because another client may create an object with the same name. */
  async #untilGone({ kind, object, uid }: DeletedObject): Promise<void> {
    const { client, deadlineMillis } = this.#options;
    let last: Stored | undefined;
    const failure: ReadFailure = {};
    const signal = AbortSignal.timeout(deadlineMillis);
    for await (const now of changesOf(client, kind, object.metadata, signal, failure)) {
      if (now?.metadata.uid !== uid) {
        this.#applied.gone(object);
        return;
      }
      last = now;
    }
    const metadata = last?.metadata as { finalizers?: string[] } | undefined;
    throw new Error(
      `${nameText(object)} still exists ${deadlineMillis} ms after its deletion, kept by ` +
        `${metadata?.finalizers?.join(", ") || "no finalizer"}. ` +
        ["Does the function with that finalizer run?", ...failureLines(failure)].join("\n"),
    );
  }
}

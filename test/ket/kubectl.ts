/** The kubectl operations that tests need, by server-side apply: no program and no output parsing. */
import type { KubeClient } from "../../bus/kube/client.ts";
import { isNotFound } from "../../bus/kube/errors.ts";
import type { Kind } from "../../bus/kube/kind.ts";
import type { KubeObject, Stored } from "../../bus/kube/object.ts";
import { render } from "../../deploy/helm/kustomize.ts";
import { changesOf, failureLines, type ReadFailure } from "../harness/changes.ts";
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
interface Removed {
  readonly kind: Kind;
  readonly object: Named;
  readonly uid: string;
}

const manager = { fieldManager: "denrei-test", force: "take-ownership" } as const;

/** Resolves with undefined for a missing object. */
const ifThere = <T>(asked: Promise<T>): Promise<T | undefined> =>
  asked.catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });

/** Opens the operations. `applied` receives each applied and each deleted object. */
export function openKubectl(
  { client, namespace, deadlineMillis, propagation }: KubectlOptions,
  applied: { readonly add: (named: Named) => unknown; readonly gone: (named: Named) => unknown },
): Kubectl {
  const kindOf = openDiscovery(client);

  async function placed<T extends Named>(named: T): Promise<{ readonly kind: Kind; readonly object: T }> {
    const kind = await kindOf(named.apiVersion, named.kind);
    if (kind.scope === "Cluster") return { kind, object: named };
    return { kind, object: { ...named, metadata: { namespace, ...named.metadata } } };
  }

  async function applyOne(manifest: Manifest): Promise<Stored> {
    const { kind, object } = await placed(manifest);
    applied.add(object);
    return client.apply(kind, object as unknown as KubeObject, manager);
  }

  async function apply(...manifests: readonly Manifest[]): Promise<Stored[]> {
    const stored: Stored[] = [];
    for (const manifest of manifests) stored.push(await applyOne(manifest));
    return stored;
  }

  /** Requests a deletion. Resolves with the object unless it was already missing. */
  async function removeOne(named: Named): Promise<Removed | undefined> {
    const { kind, object } = await placed(named);
    const there = await ifThere(client.get(kind, object.metadata));
    if (there === undefined) {
      applied.gone(object);
      return undefined;
    }
    const { uid } = there.metadata;
    await ifThere(client.delete(kind, object.metadata, { uid, propagation }));
    return { kind, object, uid };
  }

  async function remove(...named: readonly Named[]): Promise<void> {
    const failed: unknown[] = [];
    const removed: Removed[] = [];
    for (const one of named.toReversed()) {
      try {
        const still = await removeOne(one);
        if (still) removed.push(still);
      } catch (error) {
        if (!(error instanceof UnservedKindError)) failed.push(error);
      }
    }
    // Concurrently: one object may stay until another is deleted.
    const ended = removed.map(async ({ kind, object, uid }) => {
      await untilGone(kind, object, uid);
      applied.gone(object);
    });
    for (const one of await Promise.allSettled(ended)) if (one.status === "rejected") failed.push(one.reason);
    if (failed.length > 0)
      throw failed.length === 1 ? failed[0] : new AggregateError(failed, failed.join("\n"));
  }

  /** Checks the UID, because another client may create an object with the same name. */
  async function untilGone(kind: Kind, object: Named, uid: string): Promise<void> {
    let last: Stored | undefined;
    const trouble: ReadFailure = {};
    const signal = AbortSignal.timeout(deadlineMillis);
    for await (const now of changesOf(client, kind, object.metadata, signal, trouble)) {
      if (now?.metadata.uid !== uid) return;
      last = now;
    }
    const kept = last?.metadata as { finalizers?: string[] } | undefined;
    throw new Error(
      `${nameText(object)} still exists ${deadlineMillis} ms after its deletion, kept by ` +
        `${kept?.finalizers?.join(", ") || "no finalizer"}. ` +
        ["Does the function with that finalizer run?", ...failureLines(trouble)].join("\n"),
    );
  }

  return {
    kindOf,
    apply,
    delete: remove,
    applyFile: async (path) => apply(...(await readManifests(path))),
    async applyAllManifests(paths) {
      const manifests = (await Promise.all(paths.map(readManifests))).flat();
      await remove(...manifests);
      return apply(...manifests);
    },
    applyKustomize: async (folder) => apply(...(await render<Manifest>(folder))),
    async get(named) {
      const { kind, object } = await placed(named);
      return client.get(kind, object.metadata);
    },
    deleteFile: async (path) => remove(...(await readManifests(path))),
    deleteKustomize: async (folder) => remove(...(await render<Manifest>(folder))),
  };
}

/** What people do with kubectl, by server-side apply: tests need no program for it, and nothing is read from its output. */
import type { KubeClient } from "../../bus/kube/client.ts";
import { isNotFound } from "../../bus/kube/errors.ts";
import type { Kind } from "../../bus/kube/kind.ts";
import type { KubeObject, Stored } from "../../bus/kube/object.ts";
import { render } from "../../deploy/helm/kustomize.ts";
import { changesOf, type Trouble, troubleLines } from "../harness/changes.ts";
import { type Discovery, openDiscovery, UnservedKindError } from "./discovery.ts";
import { type Manifest, type Named, nameText, readManifests } from "./manifest.ts";

/** Objects by their manifests. Those that name no namespace are in the run's own. */
export interface Kubectl {
  /** Which kind a manifest is of. Throws when the API server does not serve it. */
  readonly kindOf: Discovery;
  apply(...manifests: readonly Manifest[]): Promise<Stored[]>;
  /** The objects of a file, in their order. */
  applyFile(path: string): Promise<Stored[]>;
  /** Those of files, all of which are deleted first. */
  applyAllManifests(paths: readonly string[]): Promise<Stored[]>;
  /** What a kustomization renders to. */
  applyKustomize(folder: string): Promise<Stored[]>;
  get(named: Named): Promise<Stored>;
  /**
   * Deletes the last first, one after another, then waits until all are gone, with what they own. Those that are not there are
   * gone, and so are those of a kind that is not served. What can not be deleted does not keep the others.
   */
  delete(...named: readonly Named[]): Promise<void>;
  deleteFile(path: string): Promise<void>;
  deleteKustomize(folder: string): Promise<void>;
}

/** What the helpers work with. */
export interface KubectlOptions {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly deadlineMillis: number;
  /** How objects are deleted: `Foreground` needs a garbage collector. */
  readonly propagation: "Foreground" | "Background";
}

/** An object that was told to go. */
interface Removed {
  readonly kind: Kind;
  readonly object: Named;
  readonly uid: string;
}

const manager = { fieldManager: "denrei-test", force: "take-ownership" } as const;

/** What was asked for, or undefined where there is none. */
const ifThere = <T>(asked: Promise<T>): Promise<T | undefined> =>
  asked.catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });

/** Opens the helpers. `applied` is told of each object that was applied, and of each that is gone. */
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

  /** Has one deleted. Resolves with what is still there of it. */
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
    // At once: one may stay until another has gone.
    const ended = removed.map(async ({ kind, object, uid }) => {
      await untilGone(kind, object, uid);
      applied.gone(object);
    });
    for (const one of await Promise.allSettled(ended)) if (one.status === "rejected") failed.push(one.reason);
    if (failed.length > 0)
      throw failed.length === 1 ? failed[0] : new AggregateError(failed, failed.join("\n"));
  }

  /** Somebody else may make another one of that name, which is not ours to wait for. */
  async function untilGone(kind: Kind, object: Named, uid: string): Promise<void> {
    let last: Stored | undefined;
    const trouble: Trouble = {};
    const signal = AbortSignal.timeout(deadlineMillis);
    for await (const now of changesOf(client, kind, object.metadata, signal, trouble)) {
      if (now?.metadata.uid !== uid) return;
      last = now;
    }
    const kept = last?.metadata as { finalizers?: string[] } | undefined;
    throw new Error(
      `expected ${nameText(object)} to be gone ${deadlineMillis} ms after it was deleted, but it is kept by ` +
        `${kept?.finalizers?.join(", ") || "nobody who says so"}. ` +
        ["Does the function with that finalizer run?", ...troubleLines(trouble)].join("\n"),
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

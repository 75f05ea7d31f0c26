/**
 * The simulated builders of kpack v0.17.2: ClusterBuilders and namespaced Builders. Not simulated: ClusterStacks,
 * ClusterStores, and ClusterLifecycles. Only the name of its stack decides whether a builder is ready; nothing is pushed.
 */
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { apiVersionOf, type Kind, type Stored } from "denrei/kinds";
import type { KubeClient } from "denrei/kubernetes";
import { stackId } from "./buildpod.ts";
import { atKey, type Informer } from "./informer.ts";
import { type Builder, type BuilderStatus, ClusterBuilder } from "./kinds.ts";
import { lifecycleVersion } from "./podstatus.ts";
import { condition, writeStatus } from "./status.ts";

/** The only existing stack. */
const goodStack = "default";
const badStack = "nostack";

/** State of a builder: ready, broken by a missing stack, edited but not reconciled yet, or deleted. */
export type BuilderState = "ready" | "broken" | "not-ready" | "deleted";

/** Controller of the builders, and actions on them. */
export interface Builders {
  reconcile(kind: Kind<Builder>, key: string): Promise<void>;
  /**
   * Creates, edits, or deletes a ClusterBuilder, and resolves when its status matches its spec. Setting a ready builder
   * to ready again also counts as an edit.
   */
  set(name: string, state: BuilderState): Promise<void>;
  /** Gives all builders a new run image, or new versions of their buildpacks. */
  renew(part: "stack" | "buildpacks"): Promise<void>;
}

/** Dependencies of the builders. */
export interface BuildersOptions {
  readonly client: KubeClient;
  readonly signal: AbortSignal;
  readonly informers: ReadonlyMap<Kind<Builder>, Informer<Builder>>;
  readonly stepMillis: number;
  /** Enqueues the builder, and resolves when it has been reconciled. */
  readonly reconcileNow: (kind: Kind<Builder>, key: string) => Promise<void>;
}

const fieldManager = "kpack-admin";
const registry = "registry.example";

/** Creates the controller with an empty queue. */
export function builders({ client, signal, informers, stepMillis, reconcileNow }: BuildersOptions): Builders {
  const held = new Set<string>();
  let edits = 0;

  async function change(
    kind: Kind<Builder>,
    name: string,
    status: (builder: Stored<Builder>) => BuilderStatus,
  ) {
    const informer = informers.get(kind);
    const builder = informer?.get(atKey(name));
    if (builder === undefined) return;
    informer?.observe(await writeStatus(client, kind, builder, status(builder), signal));
  }

  return {
    async reconcile(kind, key) {
      const { namespace, name } = atKey(key);
      const builder = informers.get(kind)?.get({ namespace, name });
      if (builder === undefined || builder.metadata.deletionTimestamp || held.has(key)) return;
      if (builder.status?.observedGeneration === builder.metadata.generation) return;
      await sleep(stepMillis, undefined, { signal });
      await change(kind, key, ({ metadata, spec, status }) => ({
        ...(spec.stack?.name === goodStack
          ? readyStatus(metadata.name, status)
          : brokenStatus(spec.stack?.name, status)),
        observedGeneration: metadata.generation ?? 0,
      }));
    },
    async set(name, state) {
      if (state === "deleted") {
        await client.delete(ClusterBuilder, { name }, { signal });
        return;
      }
      if (state === "not-ready") held.add(`/${name}`);
      else held.delete(`/${name}`);
      const stack = { kind: "ClusterStack", name: state === "broken" ? badStack : goodStack };
      const spec = { tag: `${registry}/builder`, stack, additionalLabels: { edit: String(++edits) } };
      const { group, version, kind } = ClusterBuilder;
      const object = { apiVersion: apiVersionOf({ group, version }), kind, metadata: { name }, spec };
      const options = { fieldManager, signal, force: "take-ownership" } as const;
      informers.get(ClusterBuilder)?.observe(await client.apply(ClusterBuilder, object, options));
      await reconcileNow(ClusterBuilder, `/${name}`);
    },
    async renew(part) {
      for (const [kind, informer] of informers)
        for (const { metadata } of informer.all())
          await change(kind, `${metadata.namespace ?? ""}/${metadata.name}`, ({ status = {} }) =>
            status.latestImage ? renewed(metadata.name, status, part) : status,
          );
    },
  };
}

const renewed = (name: string, status: BuilderStatus, part: "stack" | "buildpacks"): BuilderStatus => {
  const { observedStackGeneration: stack = 1, observedStoreGeneration: store = 1 } = status;
  return {
    ...status,
    ...imageStatus(name, part === "stack" ? stack + 1 : stack, part === "buildpacks" ? store + 1 : store),
  };
};

const readyStatus = (name: string, status: BuilderStatus = {}): BuilderStatus => ({
  ...imageStatus(name, status.observedStackGeneration ?? 1, status.observedStoreGeneration ?? 1),
  conditions: [condition("Ready", "True"), condition("UpToDate", "True")],
});

/** A builder that was ready keeps its image. */
const brokenStatus = (stack = "", status: BuilderStatus = {}): BuilderStatus => ({
  ...status,
  conditions: [
    status.latestImage
      ? condition("Ready", "True")
      : condition("Ready", "False", "NoLatestImage", "Builder has no latestImage"),
    condition("UpToDate", "False", "ReconcileFailed", `clusterstack.kpack.io "${stack}" not found`),
  ],
});

function imageStatus(name: string, stack: number, store: number): BuilderStatus {
  const digest = (...parts: (string | number)[]) =>
    `sha256:${createHash("sha256").update(parts.join("\n")).digest("hex")}`;
  const image = `${registry}/builder:clusterbuilder-${name}`;
  return {
    latestImage: `${image}@${digest(name, stack, store)}`,
    stack: { id: stackId, runImage: `${image}-run-image@${digest(name, "run", stack)}` },
    builderMetadata: [{ id: "kpk/bp", version: `1.0.${store - 1}`, homepage: "https://example.com/bp" }],
    lifecycle: { version: lifecycleVersion },
    observedStackGeneration: stack,
    observedStoreGeneration: store,
  };
}

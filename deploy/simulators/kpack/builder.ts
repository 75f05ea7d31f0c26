/**
 * The builders of the stand-in for kpack v0.17.2: ClusterBuilders, and Builders of a namespace. Left out: ClusterStacks,
 * ClusterStores and ClusterLifecycles, so a builder is as good as the name of its stack, and nothing is pushed.
 */
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { KubeClient } from "../../../bus/kube/client.ts";
import { apiVersionOf, type Kind } from "../../../bus/kube/kind.ts";
import type { Stored } from "../../../bus/kube/object.ts";
import { stackId } from "./buildpod.ts";
import { atKey, type Informer } from "./informer.ts";
import { type Builder, type BuilderStatus, ClusterBuilder } from "./kinds.ts";
import { lifecycleVersion } from "./podstatus.ts";
import { condition, writeStatus } from "./status.ts";

/** The only stack that there is. */
const goodStack = "default";
const badStack = "nostack";

/**
 * What a builder can be: ready; broken, because there is no such stack; or edited, with nobody having looked at it yet.
 */
export type BuilderState = "ready" | "broken" | "not-ready" | "deleted";

/** The builders, and what can be done to them. */
export interface Builders {
  reconcile(kind: Kind<Builder>, key: string): Promise<void>;
  /**
   * Makes, edits or deletes a ClusterBuilder, and resolves when its status is that of its spec. Making one ready that is
   * ready is an edit, too.
   */
  set(name: string, state: BuilderState): Promise<void>;
  /** Gives all builders a new run image, or new versions of their buildpacks. */
  renew(part: "stack" | "buildpacks"): Promise<void>;
}

/** What is needed for that. */
export interface BuildersOptions {
  readonly client: KubeClient;
  readonly signal: AbortSignal;
  readonly informers: ReadonlyMap<Kind<Builder>, Informer<Builder>>;
  readonly stepMillis: number;
  /** Asks for a pass, and resolves when it is over. */
  readonly settle: (kind: Kind<Builder>, key: string) => Promise<void>;
}

const fieldManager = "kpack-admin";
const registry = "registry.example";

/** Makes the controller, with nothing to do. */
export function builders({ client, signal, informers, stepMillis, settle }: BuildersOptions): Builders {
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
        ...(spec.stack?.name === goodStack ? good(metadata.name, status) : bad(spec.stack?.name, status)),
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
      await settle(ClusterBuilder, `/${name}`);
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
    ...made(name, part === "stack" ? stack + 1 : stack, part === "buildpacks" ? store + 1 : store),
  };
};

const good = (name: string, status: BuilderStatus = {}): BuilderStatus => ({
  ...made(name, status.observedStackGeneration ?? 1, status.observedStoreGeneration ?? 1),
  conditions: [condition("Ready", "True"), condition("UpToDate", "True")],
});

/** One that was good before is still of use. */
const bad = (stack = "", status: BuilderStatus = {}): BuilderStatus => ({
  ...status,
  conditions: [
    status.latestImage
      ? condition("Ready", "True")
      : condition("Ready", "False", "NoLatestImage", "Builder has no latestImage"),
    condition("UpToDate", "False", "ReconcileFailed", `clusterstack.kpack.io "${stack}" not found`),
  ],
});

function made(name: string, stack: number, store: number): BuilderStatus {
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

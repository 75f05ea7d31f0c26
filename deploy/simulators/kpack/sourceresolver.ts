/**
 * The simulated SourceResolver controller of kpack v0.17.2. Not simulated: git. A full SHA resolves to type Commit. Anything
 * else gets kpack's result for an unreachable remote: type Unknown, with the revision unchanged. Nothing is polled.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { isNotFound, type KubeClient } from "denrei/kubernetes";
import { atKey, type Informer } from "./informer.ts";
import { type Condition, ServiceAccount, SourceResolver } from "./kinds.ts";
import { writeStatus } from "./status.ts";

/** Dependencies of the controller. */
export interface SourceResolverOptions {
  readonly client: KubeClient;
  readonly signal: AbortSignal;
  readonly sourceResolvers: Informer<SourceResolver>;
  /** Duration of a git lookup. */
  readonly stepMillis: number;
  /** Resolves when the Image of a SourceResolver has been reconciled. A real git lookup would take longer than that. */
  readonly imageIdle: (sourceResolver: SourceResolver) => Promise<void>;
}

/** A revision that needs no lookup. */
export const fullSha = /^[0-9a-f]{40}$/;

/** Reconciles one SourceResolver. Throws, and is retried, while its credentials cannot be read. */
export function sourceResolverController(options: SourceResolverOptions): (key: string) => Promise<void> {
  const { client, signal, sourceResolvers, stepMillis, imageIdle } = options;

  /** A missing ServiceAccount means no credentials; a Secret reference without a name is an error. */
  async function checkCredentials(namespace: string, name: string): Promise<void> {
    try {
      const { secrets = [] } = await client.get(ServiceAccount, { namespace, name }, signal);
      if (secrets.some((secret) => !secret.name)) throw new Error("resource name may not be empty");
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  return async (key) => {
    const first = sourceResolvers.get(atKey(key));
    if (first === undefined || first.metadata.deletionTimestamp) return;
    await imageIdle(first);
    await checkCredentials(first.metadata.namespace ?? "", first.spec.serviceAccount);
    const isNew = first.status?.observedGeneration !== first.metadata.generation;
    if (isNew) await sleep(stepMillis, undefined, { signal });
    const found = sourceResolvers.get(atKey(key));
    if (found?.metadata.uid !== first.metadata.uid || found.metadata.generation !== first.metadata.generation)
      return;
    const { git, subPath, ...others } = found.spec.source;
    const type = fullSha.test(git?.revision ?? "") ? "Commit" : "Unknown";
    if (type === "Unknown" && !isNew) return;
    const source = git ? { git: { ...git, type, ...(subPath && { subPath }) } } : others;
    const conditions: Condition[] = [
      { type: "Ready", status: "True", lastTransitionTime: null },
      { type: "ActivePolling", status: "False", lastTransitionTime: null },
    ];
    const status = { conditions, source, observedGeneration: found.metadata.generation ?? 0 };
    sourceResolvers.observe(await writeStatus(client, SourceResolver, found, status, signal));
  };
}

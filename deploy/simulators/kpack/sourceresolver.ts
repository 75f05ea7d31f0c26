/**
 * The SourceResolver controller of the stand-in for kpack v0.17.2. Left out: git. A full SHA is a Commit; anything else is
 * what kpack makes of it when the remote does not answer, so Unknown and as it was written. Nothing is polled.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { KubeClient } from "../../../bus/kube/client.ts";
import { isNotFound } from "../../../bus/kube/errors.ts";
import { atKey, type Informer } from "./informer.ts";
import { type Condition, ServiceAccount, SourceResolver } from "./kinds.ts";
import { writeStatus } from "./status.ts";

/** What the controller sees. */
export interface SourceResolverOptions {
  readonly client: KubeClient;
  readonly signal: AbortSignal;
  readonly sourceResolvers: Informer<SourceResolver>;
  /** How long git takes. */
  readonly stepMillis: number;
  /** Resolves when the Image of a SourceResolver has said what it has to say: git is slower than that. */
  readonly imageIdle: (sourceResolver: SourceResolver) => Promise<void>;
}

/** A revision that needs no looking up. */
export const fullSha = /^[0-9a-f]{40}$/;

/** Reconciles one SourceResolver. Throws, and so is tried again, as long as the credentials can not be read. */
export function sourceResolverController(options: SourceResolverOptions): (key: string) => Promise<void> {
  const { client, signal, sourceResolvers, stepMillis, imageIdle } = options;

  /** A missing account is one without credentials; a credential without a name is an error. */
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

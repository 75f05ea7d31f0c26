/** The time from a push to the requests that it causes. Indexes on the bus find the few matching RemoteSyncs among many. */
import { openPublisher } from "../../bus/bridge/publisher.ts";
import { apiVersionOf } from "../../bus/kube/kind.ts";
import type { Stored } from "../../bus/kube/object.ts";
import type { Bus } from "../../bus/nats/connect.ts";
import { openIndexes } from "../../bus/objects/indexes.ts";
import { objectStore } from "../../bus/objects/store.ts";
import { ticketQueue } from "../../bus/queue/queue.ts";
import { keyText, type QueueScope, workStream } from "../../bus/subjects.ts";
import { ensureTopology } from "../../bus/topology.ts";
import type { WebhookPayload } from "../../bus/webhooks/github/payloads.ts";
import type { Webhook } from "../../bus/webhooks/provider.ts";
import { subscriptionsOf } from "../../bus/worker/function.ts";
import { keysOfWebhook, requestOfWebhook } from "../../bus/worker/router.ts";
import { RemoteSync } from "../../functions/paas/kinds.ts";
import remotesync from "../../functions/paas/remotesync.ts";
import { quantile } from "./statistics.ts";

/** One round. Milliseconds. */
export interface RoutingRun {
  readonly pushes: number;
  /** The requests that they caused in total. */
  readonly requests: number;
  readonly p50: number;
  readonly p99: number;
}

/** The number of objects and of pushes. */
export interface RoutingSizes {
  readonly rounds: number;
  readonly remoteSyncs: number;
}

/** RemoteSyncs per repository: branches and pull requests. */
export const perRepository = 5;
const pushesPerRound = 200;
const cluster = "default";
const scope: QueueScope = { fn: remotesync.name, cluster };
const published = 200;

/** In each repository two follow `main`, one follows another branch, and two belong to pull requests into `main`. */
const followed = [
  { branch: "main" },
  {},
  { branch: "next" },
  { pullRequest: 1 },
  { pullRequest: 2 },
] as const;

function remoteSync(at: number): Stored<RemoteSync> {
  const repo = `repository-${Math.floor(at / perRepository)}`;
  const source = followed[at % perRepository] ?? {};
  return {
    apiVersion: apiVersionOf(RemoteSync),
    kind: RemoteSync.kind,
    metadata: {
      namespace: `team-${at % 50}`,
      name: `sync-${at}`,
      uid: `uid-${at}`,
      resourceVersion: String(at + 1),
    },
    spec: {
      applicationRef: { name: `app-${at}` },
      base: { github: { owner: "acme", repo, secretName: "acme", ...source } },
      image: { name: "registry.example.com/acme/web" },
    },
    status: { revision: "0".repeat(40), ...("pullRequest" in source && { baseBranch: "main" }) },
  };
}

/** A push to the default branch `main`, as the gateway publishes it. */
function push(repository: string, delivery: string): Webhook<"push", WebhookPayload<"push">> {
  const [owner, name] = ["acme", repository];
  const url = `https://github.com/${owner}/${name}`;
  const repositoryFacts = {
    id: 1,
    name,
    full_name: `${owner}/${name}`,
    default_branch: "main",
    url,
    owner: { login: owner },
  };
  const [before, after] = ["0".repeat(40), "1".repeat(40)];
  const data = {
    repository: repositoryFacts,
    ref: "refs/heads/main",
    before,
    after,
    created: false,
    deleted: false,
    forced: false,
  };
  const at = { provider: "github", event: "push", owner, repository: name } as const;
  return { ...at, delivery, data, traceparent: undefined };
}

/** Fills a bus with RemoteSyncs, and pushes to some of their repositories. Throws if a push enqueues other objects than expected. */
export async function routingRounds(
  bus: Bus,
  sizes: RoutingSizes,
  say: (line: string) => void,
): Promise<RoutingRun[]> {
  await ensureTopology(bus, { replicas: 1, ackWaitMillis: 10_000 }, subscriptionsOf([remotesync], cluster));
  const indexes = openIndexes(bus, scope, remotesync.for, remotesync.indexes, objectStore(bus, cluster));
  const publisher = await openPublisher({
    bus,
    cluster,
    kind: RemoteSync,
    signal: new AbortController().signal,
    onPublished: () => undefined,
  });
  const all = Array.from({ length: sizes.remoteSyncs }, (_, at) => remoteSync(at));
  say(`routing: ${sizes.remoteSyncs} RemoteSyncs of ${Math.ceil(all.length / perRepository)} repositories`);
  for (let at = 0; at < all.length; at += published) {
    await Promise.all(
      all.slice(at, at + published).map(async (object) => {
        const { namespace = "", name } = object.metadata;
        await indexes.keep({ namespace, name }, object);
        await publisher.publish("added", object, "watch");
      }),
    );
  }
  await publisher.settled();
  const queue = ticketQueue(bus, scope, { replica: "bench" });
  const runs: RoutingRun[] = [];
  for (let round = 0; round < sizes.rounds; round++) {
    const times: number[] = [];
    let requests = 0;
    for (let number = 0; number < pushesPerRound; number++) {
      const repository = (number * 7919 + round) % Math.ceil(all.length / perRepository);
      const webhook = push(`repository-${repository}`, `${round}-${number}`);
      const begun = performance.now();
      const keys = await keysOfWebhook(remotesync, webhook, indexes, fail, fail);
      await Promise.all(keys.map((key) => queue.request(key, requestOfWebhook(webhook))));
      times.push(performance.now() - begun);
      requests += keys.length;
      expectExactly(keys.map(keyText), all, repository);
    }
    await bus.jsm.streams.purge(workStream(scope.fn));
    runs.push({ pushes: times.length, requests, p50: quantile(times, 0.5), p99: quantile(times, 0.99) });
  }
  return runs;
}

/** Expects requests for the RemoteSyncs that follow `main`, by name or as the default branch, and for the pull requests into it. */
function expectExactly(
  enqueued: readonly string[],
  all: readonly Stored<RemoteSync>[],
  repository: number,
): void {
  const expected = all
    .slice(repository * perRepository, (repository + 1) * perRepository)
    .filter((_, at) => at !== 2)
    .map(({ metadata: { namespace = "", name } }) => keyText({ namespace, name }));
  if ([...enqueued].sort().join() !== expected.sort().join())
    throw new Error(
      `expected a push to enqueue ${expected.join(", ")}, found ${enqueued.join(", ") || "none"}`,
    );
}

function fail(problem: unknown): never {
  throw new Error(`the push is not routed: ${problem}`);
}

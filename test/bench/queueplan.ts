/** The protocol between the queue's benchmark and its workers. */
import { z } from "zod";
import { externalKind } from "../../bus/kube/kind.ts";
import { inboxPrefixOf, userOf } from "../../bus/nats/identity.ts";
import { mergePermissions, type Role, workerRole } from "../../bus/permissions.ts";
import type { QueueScope } from "../../bus/subjects.ts";
import type { BusOptions, FunctionSubscription } from "../../bus/topology.ts";

/** The measured queue. */
export const scope: QueueScope = { fn: "bench", cluster: "default" };

/** Its workers' subscription. */
export const subscription: FunctionSubscription = {
  scope,
  kinds: [{ group: "bench.denrei.dev", kind: "Note" }],
};

/**
 * The user of a function whose workers also receive commands, on these subjects. The benchmark uses this user as well, because no
 * other account reaches it.
 */
export const commandedRole = (subscription: FunctionSubscription, commands: string): Role => {
  const { fn } = subscription.scope;
  return {
    name: fn,
    account: "own",
    permissions: mergePermissions(workerRole(fn, [subscription]).permissions, {
      publish: [commands, `${inboxPrefixOf(userOf(fn))}.>`],
      subscribe: [commands],
    }),
  };
};

/** The user of the measured queue's workers. */
export const queueRole: Role = commandedRole(subscription, "bench.>");

/** The bus as a single server, with the platform's default AckWait. */
export const busOptions: BusOptions = { replicas: 1, ackWaitMillis: 10_000 };

/** A kind that exists only on the bus. */
export const Note = externalKind({
  group: "bench.denrei.dev",
  version: "v1",
  kind: "Note",
  plural: "notes",
});

export const namespace = "bench";
export const noteName = (at: number): string => `note-${at}`;

/** The code that handles a ticket: only the queue, or the whole runtime with a function that does nothing. */
export type QueueMode = "queue" | "runtime";

/** A command for a worker. */
export const orderSchema = z.object({
  /** The number of requests, for consecutive keys from `offset` on. */
  requests: z.int(),
  keys: z.int(),
  offset: z.int(),
  /** The worker makes no requests while this many tickets are pending. */
  backlog: z.int(),
});
export type Order = z.infer<typeof orderSchema>;

/** A worker's result, once all of its requests were acknowledged. */
export interface Made {
  /** Requests that found their key owned. */
  readonly owned: number;
}

/** A worker's times for each key: milliseconds since the epoch. */
export interface Times {
  /** Just before the last request for the key. */
  readonly requested: Record<string, number>;
  /** When the last ticket of the key was started. */
  readonly started: Record<string, number>;
}

/** Subject of a worker's commands. */
export const orderSubject = (replica: string): string => `bench.${replica}.order`;
/** Subject on which a worker returns its {@link Times}. */
export const timesSubject = (replica: string): string => `bench.${replica}.times`;

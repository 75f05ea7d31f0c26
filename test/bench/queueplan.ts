/** What the queue's benchmark and its workers have agreed on. */
import { z } from "zod";
import { externalKind } from "../../bus/kube/kind.ts";
import { inboxPrefixOf, userOf } from "../../bus/nats/identity.ts";
import { type Role, together, workerRole } from "../../bus/permissions.ts";
import type { QueueScope } from "../../bus/subjects.ts";
import type { BusOptions, Interest } from "../../bus/topology.ts";

/** The queue that is measured. */
export const scope: QueueScope = { fn: "bench", cluster: "default" };

/** What its workers need on the bus. */
export const interest: Interest = { scope, kinds: [{ group: "bench.denrei.dev", kind: "Note" }] };

/** Its workers' user: a function's, that takes orders as well. */
export const queueRole: Role = {
  name: scope.fn,
  account: "own",
  permissions: together(
    workerRole(scope.fn, [interest]).permissions,
    // The benchmark asks as this user as well: no other account reaches it.
    { publish: ["bench.>", `${inboxPrefixOf(userOf(scope.fn))}.>`], subscribe: ["bench.>"] },
  ),
};

/** The bus as a single server has it, with the platform's own default of how long a ticket is owned. */
export const busOptions: BusOptions = { replicas: 1, ackWaitMillis: 10_000 };

/** A kind that exists on the bus only. */
export const Note = externalKind({
  group: "bench.denrei.dev",
  version: "v1",
  kind: "Note",
  plural: "notes",
});

export const namespace = "bench";
export const noteName = (at: number): string => `note-${at}`;

/** What handles a ticket: the queue and nothing else, or the whole runtime with a function that does nothing. */
export type QueueMode = "queue" | "runtime";

/** An order to a worker. */
export const orderSchema = z.object({
  /** Requests to make, for one key after the other from `offset` on. */
  requests: z.int(),
  keys: z.int(),
  offset: z.int(),
  /** With so many tickets waiting the worker makes no request until there are less. */
  backlog: z.int(),
});
export type Order = z.infer<typeof orderSchema>;

/** What a worker answers when all of its requests were answered. */
export interface Made {
  /** Requests that found their key owned. */
  readonly owned: number;
}

/** What a worker knows about each key: milliseconds since the epoch. */
export interface Times {
  /** When the last request for the key was about to be made. */
  readonly requested: Record<string, number>;
  /** When the last ticket of the key was taken up. */
  readonly started: Record<string, number>;
}

/** Subject where a worker takes orders. */
export const orderSubject = (replica: string): string => `bench.${replica}.order`;
/** Subject where a worker tells its {@link Times}. */
export const timesSubject = (replica: string): string => `bench.${replica}.times`;

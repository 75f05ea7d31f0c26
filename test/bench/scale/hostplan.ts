/** The protocol between the benchmark and the processes that host its functions. */
import { z } from "zod";
import { defineKind, type ObjectOf } from "../../../bus/kube/kind.ts";
import type { Stored } from "../../../bus/kube/object.ts";
import { inboxPrefixOf, userOf } from "../../../bus/nats/identity.ts";
import type { FunctionSubscription } from "../../../bus/topology.ts";
import { stored } from "../../harness/publish.ts";
import { orderSchema } from "../queueplan.ts";

/** The cluster that `publisherOf` publishes for. */
const cluster = "test";

/** The kind of all functions. It exists only on the bus. */
export const Sample = defineKind({
  group: "bench.denrei.dev",
  version: "v1",
  kind: "Sample",
  description: "An object that is published once.",
  spec: z.object({
    index: z.int().min(0),
    /** When it was passed to the publisher: milliseconds of the machine's clock. */
    at: z.number(),
  }),
});
export type Sample = ObjectOf<typeof Sample>;

/** A sample as the API server would store it. */
export const sampleOf = (index: number, at: number): Stored<Sample> =>
  stored(Sample, `sample-${index}`, index + 1, { index, at });

/** The names of this many functions. */
export const functionNames = (count: number): string[] =>
  Array.from({ length: count }, (_, at) => `scale-${at + 1}`);

/** The subscription of a function. */
export const subscriptionFor = (fn: string): FunctionSubscription => ({
  scope: { fn, cluster },
  kinds: [Sample],
});

/** The environment variable with a {@link Host}. */
export const hostVariable = "DENREI_BENCH_HOST";

/** A process with replicas of one function. */
export const hostSchema = z.object({
  name: z.string(),
  fn: z.string(),
  /** Their names. A host without replicas only makes requests. */
  replicas: z.array(z.string()),
  /** Copies of each stream. */
  copies: z.int(),
});
export type Host = z.infer<typeof hostSchema>;

/**
 * Subjects of the commands to all hosts of a function. They are among the user's inboxes, which stay in its account: commands on
 * subjects that the account imports do not reach hosts on other servers of a cluster.
 */
export const commandSubjects = (fn: string): string => `${inboxPrefixOf(userOf(fn))}.hosts.>`;
/** Subject of the commands to a host. */
export const commandSubject = ({ fn, name }: Pick<Host, "fn" | "name">): string =>
  `${inboxPrefixOf(userOf(fn))}.hosts.${name}`;

/** A command to a host. */
export const commandSchema = z.discriminatedUnion("command", [
  /** Answered with {@link Counted}. */
  z.object({ command: z.literal("count") }),
  /** Answered with {@link Taken}. */
  z.object({ command: z.literal("take") }),
  /** Makes requests; answered with `Made` once all of them are acknowledged. */
  z.object({ command: z.literal("request"), order: orderSchema }),
]);
export type Command = z.infer<typeof commandSchema>;

/** The number of samples that a host's replicas have reconciled and that were not taken yet. */
export interface Counted {
  readonly count: number;
}

/** Samples that a host's replicas have reconciled and that were not taken yet: as many as fit into a message. */
export interface Taken {
  /** The index of each, and the milliseconds from its publish to its first reconcile. */
  readonly samples: readonly (readonly [index: number, millis: number])[];
}

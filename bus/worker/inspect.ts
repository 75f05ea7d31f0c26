/** What an operator asks the bus: how long the queues are, what is stored, where the bridge is. */
import { JetStreamApiError } from "@nats-io/jetstream";
import { type Position, positionKey, positionSchema } from "../bridge/bridge.ts";
import type { Bus } from "../connect.ts";
import { type Kind, kindText } from "../kube/kind.ts";
import {
  bridgeBucket,
  consumers,
  kindSubjects,
  type QueueScope,
  streams,
  work,
  workStream,
} from "../subjects.ts";
import { kindsOf, type ReconcileFunction } from "./function.ts";

/** A function's queue. All figures are counts of objects; undefined when the function never ran on this bus. */
export interface FunctionStatus {
  readonly function: string;
  /** Wait for a free worker. */
  readonly pending: number | undefined;
  /** Changed while they were reconciled; asked for again when that ends. */
  readonly parked: number | undefined;
  /** Are being reconciled. */
  readonly inFlight: number | undefined;
  /** Wait for their time. */
  readonly delayed: number | undefined;
  readonly deadLetters: number | undefined;
}

/** A kind on the bus. */
export interface KindStatus {
  readonly kind: string;
  /** Objects, the recently deleted ones included. */
  readonly objects: number;
  /** Undefined when no bridge ever watched it. */
  readonly bridge: Position | undefined;
}

const absent = (error: unknown): boolean => error instanceof JetStreamApiError && error.status === 404;

/** Messages on the matching subjects of a stream; undefined when there is no such stream. */
async function count({ jsm }: Bus, stream: string, filter: string): Promise<number | undefined> {
  try {
    const { state } = await jsm.streams.info(stream, { subjects_filter: filter });
    return Object.values(state.subjects ?? {}).reduce((sum, messages) => sum + messages, 0);
  } catch (error) {
    if (absent(error)) return undefined;
    throw error;
  }
}

/** Reads the status of a function's queue. */
export async function functionStatus(
  bus: Bus,
  fn: ReconcileFunction,
  cluster: string,
): Promise<FunctionStatus> {
  const scope: QueueScope = { fn: fn.name, cluster };
  const tickets = async () => {
    try {
      return await bus.jsm.consumers.info(workStream(fn.name), consumers.worker(scope));
    } catch (error) {
      if (absent(error)) return undefined;
      throw error;
    }
  };
  const [consumer, parked, delayed, deadLetters] = await Promise.all([
    tickets(),
    count(bus, streams.timers, work.marks(scope)),
    count(bus, streams.timers, work.timers(scope)),
    count(bus, streams.deadLetters, work.deadLetters(scope)),
  ]);
  return {
    function: fn.name,
    pending: consumer?.num_pending,
    parked,
    inFlight: consumer?.num_ack_pending,
    delayed,
    deadLetters,
  };
}

/** Reads the status of every kind that the functions use. */
export async function kindStatuses(
  bus: Bus,
  functions: readonly ReconcileFunction[],
  cluster: string,
): Promise<KindStatus[]> {
  const kinds = [...new Map(functions.flatMap(kindsOf).map((kind) => [kindText(kind), kind])).values()];
  return Promise.all(
    kinds.map(async (kind) => ({
      kind: kindText(kind),
      objects: (await count(bus, streams.objects, kindSubjects(cluster, kind))) ?? 0,
      bridge: await positionOf(bus, cluster, kind),
    })),
  );
}

async function positionOf(bus: Bus, cluster: string, kind: Kind): Promise<Position | undefined> {
  try {
    const entry = await (await bus.kvm.open(bridgeBucket)).get(positionKey(cluster, kind));
    return entry?.operation === "PUT" ? positionSchema.parse(entry.json()) : undefined;
  } catch (error) {
    if (absent(error)) return undefined;
    throw error;
  }
}

/** Finds the namespaces in which a function works. */
import { JetStreamApiError } from "@nats-io/jetstream";
import type { Bus } from "../nats/connect.ts";
import {
  activity,
  activityStream,
  type ObjectKey,
  parseKeySubject,
  type QueueScope,
  streams,
  timersStream,
  work,
  workStream,
} from "../subjects.ts";

/** The objects that this function has reconciled, or will reconcile. The bus keeps activity for a day. */
async function keysOnBus({ jsm }: Pick<Bus, "jsm">, scope: QueueScope): Promise<ObjectKey[]> {
  const places: readonly [stream: string, subjects: string][] = [
    [activityStream(scope.fn), activity.all(scope)],
    [workStream(scope.fn), work.tickets(scope)],
    [timersStream(scope.fn), work.timers(scope)],
    [streams.deadLetters, work.deadLetters(scope)],
  ];
  const found = await Promise.all(
    places.map(async ([stream, subjects]) => {
      const info = await jsm.streams.info(stream, { subjects_filter: subjects }).catch(ignoreAbsent);
      return Object.keys(info?.state.subjects ?? {});
    }),
  );
  return found.flat().map((subject) => parseKeySubject(subject).key);
}

const namespacesOf = (keys: readonly ObjectKey[]): string[] =>
  [...new Set(keys.map(({ namespace }) => namespace))].filter((namespace) => namespace !== "").sort();

/**
 * The namespaces in which this function has reconciled, or will reconcile, an object of this name, in alphabetical order. The bus
 * keeps activity for a day.
 */
export const namespacesWith = async (
  bus: Pick<Bus, "jsm">,
  scope: QueueScope,
  name: string,
): Promise<string[]> => namespacesOf((await keysOnBus(bus, scope)).filter((key) => key.name === name));

/** The same for objects of any name. */
export const namespacesOnBus = async (bus: Pick<Bus, "jsm">, scope: QueueScope): Promise<string[]> =>
  namespacesOf(await keysOnBus(bus, scope));

function ignoreAbsent(error: unknown): undefined {
  if (error instanceof JetStreamApiError && error.status === 404) return undefined;
  throw error;
}

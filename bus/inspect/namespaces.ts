/** Finds the namespaces of an object of which only the name is known. */
import { JetStreamApiError } from "@nats-io/jetstream";
import type { Bus } from "../nats/connect.ts";
import {
  activity,
  activityStream,
  parseKeySubject,
  type QueueScope,
  streams,
  timersStream,
  work,
  workStream,
} from "../subjects.ts";

/**
 * The namespaces in which this function has reconciled, or will reconcile, an object of this name, in alphabetical order. The bus
 * keeps activity for a day.
 */
export async function namespacesWith(
  { jsm }: Pick<Bus, "jsm">,
  scope: QueueScope,
  name: string,
): Promise<string[]> {
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
  const keys = found.flat().map((subject) => parseKeySubject(subject).key);
  const namespaces = keys.filter((key) => key.name === name).map(({ namespace }) => namespace);
  return [...new Set(namespaces)].filter((namespace) => namespace !== "").sort();
}

function ignoreAbsent(error: unknown): undefined {
  if (error instanceof JetStreamApiError && error.status === 404) return undefined;
  throw error;
}

/** An event log: what happens to objects of several kinds, printed in order. */
import { compareVersions, type Kind, type KubeObject, type ObjectVersion, type Stored } from "denrei/kinds";
import { follow } from "./follow.ts";
import type { StepPrinter, Steps } from "./steps.ts";

/** A line of the log. */
export interface LogEntry {
  /** Empty if unknown. */
  readonly actor: string;
  readonly text: string;
  /** Version of the object on which the actor acted. The entry comes before later versions of the object, even if it arrives later. */
  readonly seen?: ObjectVersion;
}

/** Which changes of a kind are logged. */
export interface LogSource<T extends KubeObject = KubeObject> {
  readonly kind: Kind<T>;
  /** Undefined if the change is not logged. */
  entry(type: "ADDED" | "MODIFIED" | "DELETED", object: Stored<T>): LogEntry | undefined;
}

/** An open log. */
export interface EventLog {
  /** Prints new entries that have been held long enough; returns whether none is left. */
  flush(): boolean;
}

/** Changes of different kinds arrive out of order by at most this time. Milliseconds. */
const holdMillis = 1000;

interface HeldEntry extends ObjectVersion {
  readonly at: number;
  readonly entry: LogEntry;
}

/** Sorts by resourceVersion, which counts all writes to the store. An action on an object comes before the changes that follow it. */
export function sortEntries(held: HeldEntry[]): void {
  const positions = new Map(
    held.map((one) => {
      const { seen } = one.entry;
      const later = held.filter(
        ({ uid, resourceVersion }) =>
          uid === seen?.uid && compareVersions(resourceVersion, seen.resourceVersion) > 0,
      );
      const versions = [one, ...later].map(({ resourceVersion }) => resourceVersion);
      return [one, versions.sort(compareVersions)[0] ?? ""];
    }),
  );
  const position = (one: HeldEntry): string => positions.get(one) ?? "";
  const isAction = ({ entry }: HeldEntry): number => Number(entry.seen !== undefined);
  held.sort((a, b) => compareVersions(position(a), position(b)) || isAction(b) - isAction(a));
}

/** Opens a log, which records until `signal` aborts. */
export async function openEventLog(
  { environment: { client }, namespace, signal }: Steps,
  sources: readonly LogSource[],
  print: StepPrinter,
): Promise<EventLog> {
  const held: HeldEntry[] = [];
  // The environment reports when its API server exits.
  const common = { client, namespace, signal, onError: () => undefined };
  await Promise.all(
    sources.map((source) =>
      follow({
        ...common,
        kind: source.kind,
        each(type, object) {
          const entry = source.entry(type, object);
          if (entry) held.push({ ...object.metadata, at: performance.now(), entry });
        },
      }),
    ),
  );
  return {
    flush() {
      sortEntries(held);
      const firstRecent = held.findIndex(({ at }) => performance.now() - at < holdMillis);
      for (const { entry } of held.splice(0, firstRecent < 0 ? held.length : firstRecent))
        print(entry.actor, entry.text);
      return held.length === 0;
    },
  };
}

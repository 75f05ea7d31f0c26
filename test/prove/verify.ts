/** Checks of the workers' journals that must hold after any fault. */
import type { Change, TrialEnvironment } from "./environment.ts";
import type { Injected } from "./faults.ts";
import { type Begun, type Effect, readJournals } from "./journal.ts";
import { type Check, figure, noneOf } from "./scenario.ts";

/** The data of a run. */
export interface Record {
  readonly changes: TrialEnvironment["changes"];
  readonly faults: readonly Injected[];
  readonly begun: readonly Begun[];
  readonly effects: readonly Effect[];
  /** Dead-lettered keys with the reason. */
  readonly deadLetters: ReadonlyMap<string, string>;
}

/** Reads the journals. */
export const recordOf = async (
  environment: TrialEnvironment,
  faults: readonly Injected[],
): Promise<Record> => ({
  changes: environment.changes,
  faults,
  deadLetters: new Map(
    (await environment.deadLetters()).map(({ key, letter }) => [
      key.name,
      `dead-lettered at ${letter.time} by ${letter.replica}: ${letter.reason}, ${letter.message}`,
    ]),
  ),
  ...(await readJournals(environment.journals)),
});

/** Checks that no two reconciles of a key with effects overlap. */
export function noOverlap(record: Record): Check {
  let overlaps = 0;
  let history: readonly string[] | undefined;
  for (const [key, effects] of Map.groupBy(record.effects, (effect) => effect.key)) {
    const sorted = effects.toSorted((a, b) => a.from - b.from);
    for (const [at, effect] of sorted.entries()) {
      const before = sorted[at - 1];
      if (before === undefined || effect.from >= before.to) continue;
      overlaps++;
      history ??= historyOf(record, key, effect.from);
    }
  }
  return {
    what: "overlapping reconciles of a key, within deadline",
    limit: "0",
    found: `${figure(overlaps)} in ${figure(record.effects.length)} reconciles`,
    // Without a single reconcile the check shows nothing.
    holds: overlaps === 0 && record.effects.length > 0,
    ...(history && { history }),
  };
}

/** Checks that a reconcile saw the last change of each key. */
export function lastChangesSeen(record: Record): Check {
  const seen = new Map<string, number>();
  for (const { key, version } of record.effects) seen.set(key, Math.max(version, seen.get(key) ?? 0));
  const lost = [...record.changes].filter(
    ([key, list]) => (list.at(-1)?.version ?? 0) > (seen.get(key) ?? 0),
  );
  const [first] = lost;
  return noneOf("keys whose last change was not reconciled", lost.length, record.changes.size, {
    history: first && historyOf(record, first[0], first[1].at(-1)?.at ?? 0),
  });
}

/** Longer than any reconcile in a scenario. */
const longMillis = 5000;

/** Checks that a worker paused for longer than its ownership has no effect with its in-flight work when it resumes. */
export function pausedHadNoEffect(record: Record, pause: string): Check {
  const pauses = record.faults.filter(({ name }) => name === pause);
  const across = (
    entry: { readonly replica: string; readonly from: number },
    { victim, from }: Injected,
  ): boolean => entry.replica === victim && entry.from < from;
  const late = record.effects.filter((effect) =>
    pauses.some((one) => across(effect, one) && effect.at > one.to),
  );
  const ended = new Set(record.effects.map(({ replica, key, from }) => `${replica} ${key} ${from}`));
  const inFlight = record.begun.filter(
    (one) =>
      !ended.has(`${one.replica} ${one.key} ${one.from}`) &&
      pauses.some((fault) => across(one, fault) && fault.from - one.from < longMillis),
  );
  const [first] = late;
  return {
    what: "effects of a paused worker's in-flight work after it resumes",
    limit: "0",
    found: `${figure(late.length)}, with ${figure(inFlight.length)} reconciles in flight in ${pauses.length} pauses`,
    // A worker with nothing in flight shows nothing.
    holds: late.length === 0 && inFlight.length > 0,
    ...(first && { history: historyOf(record, first.key, first.at) }),
  };
}

/** The lines of a history to show, around the moment of interest. */
const shown = 40;

/** The events of a key around a moment, oldest first. */
export function historyOf(record: Record, key: string, around: number): string[] {
  const lines: [number, string][] = [
    ...(record.changes.get(key) ?? []).map(({ at, version }: Change): [number, string] => [
      at,
      `changed to version ${version}`,
    ]),
    ...record.begun
      .filter((one) => one.key === key)
      .map(({ from, replica, version }): [number, string] => [
        from,
        `${replica} starts with version ${version}`,
      ]),
    ...record.effects
      .filter((one) => one.key === key)
      .map(({ at, from, to, replica, version }): [number, string] => [
        at,
        `${replica} has its effect of version ${version}, started at ${from.toFixed(1)}, finished at ${to.toFixed(1)}`,
      ]),
    ...record.faults.map(({ from, to, name, victim }): [number, string] => [
      from,
      `(${name}: ${victim}, until ${to.toFixed(1)})`,
    ]),
  ];
  lines.sort(([a], [b]) => a - b);
  const middle = lines.findIndex(([at]) => at >= around);
  const first = Math.max(0, (middle < 0 ? lines.length : middle) - shown / 2);
  const letter = record.deadLetters.get(key);
  return [
    ...(letter === undefined ? [] : [letter]),
    `${key}, in milliseconds:`,
    ...lines.slice(first, first + shown).map(([at, text]) => `${at.toFixed(1)} ${text}`),
  ];
}

import type { History, HistoryEntry, HistoryTrace } from "../../../../api/bus.ts";

/**
 * Merges parts of a history. Traces are sorted by their last entry, newest first; entries oldest first. Parts may overlap, and a part may
 * begin in the middle of a trace.
 */
export function mergeTraces(parts: readonly Pick<History, "traces">[]): readonly HistoryTrace[] {
  const traces = Map.groupBy(
    parts.flatMap(({ traces }) => traces),
    ({ trace }) => trace,
  );
  return [...traces]
    .map(([trace, pieces]) => ({ trace, entries: inOrder(pieces.flatMap(({ entries }) => entries)) }))
    .sort((a, b) => timeOf(b.entries.at(-1)) - timeOf(a.entries.at(-1)));
}

const timeOf = (entry: HistoryEntry | undefined): number => Date.parse(entry?.at ?? "");

function inOrder(entries: readonly HistoryEntry[]): readonly HistoryEntry[] {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  return [...byId.values()].sort((a, b) => timeOf(a) - timeOf(b));
}

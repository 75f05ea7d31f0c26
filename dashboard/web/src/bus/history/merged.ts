/** Parts of a history, put together. */
import type { History, HistoryEntry, HistoryTrace } from "../../../../api/bus.ts";

/**
 * The traces of several parts, each once: the one in which something happened last comes first, and its entries with the oldest
 * first. A part may begin in the middle of a trace, and parts may overlap.
 */
export function merged(parts: readonly Pick<History, "traces">[]): readonly HistoryTrace[] {
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

/** The best results for what the user has typed. Pure. */
import { filterByWords } from "../ui/wordfilter.ts";
import type { Entry, EntryGroup } from "./entry.ts";

/** The results of a group that are shown. */
export interface RankedGroup extends EntryGroup {
  /** The number of matches, including those that are not shown. */
  readonly count: number;
}

/** More results of one group than users read. */
export const maxShown = 20;

const textOf = ({ name, detail = "", health, words = "" }: Entry): string =>
  [name, detail, health?.[1], words].join(" ");

/** How well a name matches a word: 0 is best. */
function distance(name: string, word: string): number {
  if (name === word) return 0;
  if (name.startsWith(word)) return 1;
  const at = name.indexOf(word);
  if (at === -1) return 4;
  return /[\s\-./#]/.test(name[at - 1] ?? "") ? 2 : 3;
}

function distanceOf({ name }: Entry, words: readonly string[]): number {
  const lower = name.toLowerCase();
  return Math.min(...words.map((word) => distance(lower, word)));
}

/** The entries of each group that contain all words, those whose name matches best first, and the groups likewise. */
export function rank(groups: readonly EntryGroup[], typed: string): readonly RankedGroup[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const ranked = groups.map(({ name, entries }) => {
    const found = filterByWords(entries, textOf, typed).map((entry) => ({
      entry,
      // Without words, everything matches equally well.
      distance: words.length === 0 ? 0 : distanceOf(entry, words),
    }));
    return { name, found: found.toSorted((a, b) => a.distance - b.distance) };
  });
  return ranked
    .filter(({ found }) => found.length > 0)
    .toSorted((a, b) => (a.found[0]?.distance ?? 0) - (b.found[0]?.distance ?? 0))
    .map(({ name, found }) => ({
      name,
      count: found.length,
      entries: found.slice(0, maxShown).map(({ entry }) => entry),
    }));
}

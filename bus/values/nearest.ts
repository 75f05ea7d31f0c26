/** Suggestions for misspelled names. */

/** More differences make another word. */
const mostDifferences = 3;
/** A suggestion shares more than this part of its letters with the word. */
const leastSimilarity = 0.4;

/** ` (did you mean hikawa?)`, or an empty text if no name resembles the word. */
export function didYouMean(word: string, names: readonly string[]): string {
  const found = nearest(word, names);
  return found === undefined ? "" : ` (did you mean ${found}?)`;
}

/** The name that differs least from the word. */
function nearest(word: string, names: readonly string[]): string | undefined {
  const lowerCase = word.toLowerCase();
  const candidates = names
    .map((name) => ({ name, differences: differences(lowerCase, name.toLowerCase()) }))
    .filter(({ name, differences }) => {
      const longest = Math.max(name.length, word.length);
      return differences <= mostDifferences && (longest - differences) / longest > leastSimilarity;
    });
  return candidates.sort((a, b) => a.differences - b.differences)[0]?.name;
}

/** The number of letters to insert, delete, replace, or swap with the next one: the optimal string alignment distance. */
function differences(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, at) => at)];
  const at = (i: number, j: number): number => rows[i]?.[j] ?? Number.POSITIVE_INFINITY;
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    rows.push(row);
    for (let j = 1; j <= b.length; j++) {
      const replaced = at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwapped ? at(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY;
      row.push(Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, replaced, swapped));
    }
  }
  return at(a.length, b.length);
}

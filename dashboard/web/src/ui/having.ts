/** Finding some among many by words. */

/** Those whose text has each of the words. */
export function having<T>(items: readonly T[], text: (item: T) => string, words: string): readonly T[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return items.filter((item) => {
    const found = text(item).toLowerCase();
    return wanted.every((word) => found.includes(word));
  });
}

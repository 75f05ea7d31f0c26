/** The items whose text contains all words, ignoring case. */
export function having<T>(items: readonly T[], text: (item: T) => string, words: string): readonly T[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return items.filter((item) => {
    const found = text(item).toLowerCase();
    return wanted.every((word) => found.includes(word));
  });
}

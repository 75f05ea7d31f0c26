/** The items whose text contains all words, ignoring case. */
export function filterByWords<T>(
  items: readonly T[],
  text: (item: T) => string,
  words: string,
): readonly T[] {
  const needles = words.toLowerCase().split(/\s+/).filter(Boolean);
  return items.filter((item) => {
    const haystack = text(item).toLowerCase();
    return needles.every((word) => haystack.includes(word));
  });
}

/** Keys that move among the results. */

/** The index of the result that a key leads to; undefined for other keys. The arrows wrap around. */
export function moved(key: string, at: number, count: number): number | undefined {
  if (count === 0) return undefined;
  switch (key) {
    case "ArrowDown":
      return (at + 1) % count;
    case "ArrowUp":
      return (at + count - 1) % count;
    case "Home":
      return 0;
    case "End":
      return count - 1;
    default:
      return undefined;
  }
}

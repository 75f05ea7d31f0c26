/** How many objects a list asks for at a time: objects may have 1.5 MB each, and a page is in memory as a whole, several times. */

/** The first page tells how large the objects are. */
export const firstPage = 50;

const bounds = { fewest: 10, most: 500 };
/** About what a page may have. Characters of JSON. */
const pageSize = 16_000_000;
/** So many objects of a page are measured. */
const samples = 8;

/** The number of objects of the next page, after one of `limit`, of which the server has given `items`. */
export function nextPage(limit: number, items: readonly unknown[]): number {
  const step = Math.max(1, Math.floor(items.length / samples));
  const measured = items.filter((_, at) => at % step === 0).map((item) => JSON.stringify(item).length);
  const fitting = Math.floor(pageSize / Math.max(1, ...measured));
  return Math.max(bounds.fewest, Math.min(bounds.most, 4 * limit, fitting));
}

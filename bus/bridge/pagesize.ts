/** Page sizes of lists. An object may have 1.5 MB, and a page is in memory as a whole, several times over. */

/** The first page shows how large the objects are. */
export const firstPage = 50;

const bounds = { fewest: 10, most: 500 };
/** Target size of a page, in characters of JSON. */
const pageSize = 16_000_000;
/** Number of objects measured per page. */
const samples = 8;

/** Returns the limit for the next page, after a page with `limit` for which the server returned `items`. */
export function nextPage(limit: number, items: readonly unknown[]): number {
  const step = Math.max(1, Math.floor(items.length / samples));
  const measured = items.filter((_, at) => at % step === 0).map((item) => JSON.stringify(item).length);
  const fitting = Math.floor(pageSize / Math.max(1, ...measured));
  return Math.max(bounds.fewest, Math.min(bounds.most, 4 * limit, fitting));
}

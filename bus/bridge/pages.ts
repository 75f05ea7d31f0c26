/** Lists of one kind in pages. Their size follows the size of the objects. */
import { type KubeClient, type ListPage, metadataOnly } from "../kube/client.ts";
import type { Kind } from "../kube/kind.ts";
import type { KubeObject } from "../kube/object.ts";

/** What to list. */
export interface PagesOptions {
  readonly client: Pick<KubeClient, "list">;
  readonly kind: Kind;
  readonly namespace?: string | undefined;
  readonly signal: AbortSignal;
}

/** Size of the first page. It shows how large the objects are. */
export const firstPage = 50;

const pageBounds = { fewest: 10, most: 500 };
/** Target size of a page, in characters of JSON. An object may have 1.5 MB, and memory holds a page several times over. */
const pageSize = 16_000_000;
/** Number of objects measured per page. */
const samples = 8;

/** Returns the limit for the next page, after a page with `limit` for which the server returned `items`. */
export function nextPage(limit: number, items: readonly unknown[]): number {
  const stride = Math.max(1, Math.floor(items.length / samples));
  const measured = items.filter((_, at) => at % stride === 0).map((item) => JSON.stringify(item).length);
  const fitting = Math.floor(pageSize / Math.max(1, ...measured));
  return Math.max(pageBounds.fewest, Math.min(pageBounds.most, 4 * limit, fitting));
}

/** The media type that returns only what may be published. */
export const acceptOf = ({ publish }: Kind, request: keyof typeof metadataOnly): string | undefined =>
  publish === "metadata" ? metadataOnly[request] : undefined;

/** Lists the objects of a kind, one page after the other. */
export async function* pagesOf({
  client,
  kind,
  namespace,
  signal,
}: PagesOptions): AsyncGenerator<ListPage<KubeObject>> {
  let token: string | undefined;
  let limit = firstPage;
  do {
    const query = { limit, continue: token };
    const page = await client.list(kind, namespace, query, signal, acceptOf(kind, "list"));
    yield page;
    token = page.metadata.continue || undefined;
    limit = nextPage(limit, page.items);
  } while (token !== undefined);
}

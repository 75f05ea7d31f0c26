/**
 * Asking for what was asked for before: GitHub answers that it is still the same, and counts no request.
 * https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api
 */
import { promisify } from "node:util";
import { deflate, inflate } from "node:zlib";

/** An answer that can be asked for again. */
interface Kept {
  readonly etag: string;
  /** Compressed: a page of pull requests has megabytes, nearly all of them links. */
  readonly body: Buffer;
  /** Those that say how to read the body, and where there is more. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Answers to GETs. Each is given only to the credential that it was an answer to, and only when GitHub says so. */
export interface EtagCache {
  /** What is kept, which is from now on the last to make way. */
  get(key: string): Kept | undefined;
  set(key: string, kept: Kept): void;
}

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

const compressed = promisify(deflate);
const uncompressed = promisify(inflate);
const keptHeaders = ["content-type", "link"];
/** About what an entry takes besides its body. */
const bytesBeside = 1000;

/**
 * An empty cache, one for all clients of a process. Of more than `limitBytes`, compressed, the answers make way that nobody
 * has asked for the longest; one that is longer is not kept.
 */
export function etagCache({ limitBytes }: { readonly limitBytes: number }): EtagCache {
  const entries = new Map<string, Kept>();
  let total = 0;

  function remove(key: string): void {
    const kept = entries.get(key);
    if (kept === undefined) return;
    entries.delete(key);
    total -= kept.body.length + bytesBeside;
  }

  return {
    get(key) {
      const kept = entries.get(key);
      if (kept === undefined) return undefined;
      entries.delete(key);
      entries.set(key, kept);
      return kept;
    },
    set(key, kept) {
      remove(key);
      const bytes = kept.body.length + bytesBeside;
      if (bytes > limitBytes) return;
      entries.set(key, kept);
      total += bytes;
      for (const oldest of entries.keys()) {
        if (total <= limitBytes) break;
        remove(oldest);
      }
    },
  };
}

/** Fetch that gives the answer of before when GitHub says that it is still the same. `who` tells credentials apart. */
export const conditional =
  (fetch: Fetch, etags: EtagCache, who: string): Fetch =>
  async (url, init) => {
    const key = `${who} ${url}`;
    const kept = etags.get(key);
    const headers = new Headers(init.headers);
    if (kept) headers.set("if-none-match", kept.etag);
    const response = await fetch(url, { ...init, headers });
    if (kept && response.status === 304)
      return new Response((await uncompressed(kept.body)).toString(), { headers: kept.headers });
    const etag = response.headers.get("etag");
    if (response.status !== 200 || etag === null) return response;
    const body = await response.text();
    const told = keptHeaders.map((name) => [name, response.headers.get(name)] as const);
    etags.set(key, {
      etag,
      body: await compressed(body),
      headers: Object.fromEntries(told.flatMap(([name, value]) => (value === null ? [] : [[name, value]]))),
    });
    return new Response(body, { headers: response.headers });
  };

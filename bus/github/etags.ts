/**
 * Conditional requests: GitHub answers that a response is unchanged, and does not count the request.
 * https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api
 */
import { promisify } from "node:util";
import { deflate, inflate } from "node:zlib";

/** A cached response. */
export interface Kept {
  readonly etag: string;
  /** Compressed: a page of pull requests has megabytes, nearly all of them links. */
  readonly body: Buffer;
  /** Headers needed to read the body and to find further pages. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Cached responses to GETs. A response is used only for the same credential, and only after GitHub confirmed it. */
export interface EtagCache {
  /** Returns a cached response and marks it as the most recently used. */
  get(key: string): Kept | undefined;
  set(key: string, kept: Kept): void;
}

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

const compressed = promisify(deflate);
const uncompressed = promisify(inflate);
const keptHeaders = ["content-type", "link"];
/** Approximate size of an entry without its body. */
const bytesBeside = 1000;

/**
 * Opens an empty cache, shared by all clients of a process. Above `limitBytes`, compressed, the least recently used responses
 * are dropped. A larger response is not cached.
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

/** A fetch that returns the cached response if GitHub confirms it. `who` identifies the credential. */
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

/** Fetching a published file and proving that it is the published one. */
import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { EnvHttpProxyAgent, fetch, type Response } from "undici";

/** How long to wait, in milliseconds. */
export interface Patience {
  /** For a connection, TLS included. */
  readonly connectMillis: number;
  /** For the next sign of life: an answer, or more of it. */
  readonly stallMillis: number;
}

/** How to fetch. */
export interface FetchOptions {
  readonly patience: Patience;
  readonly signal?: AbortSignal | undefined;
}

/** A file arrived complete, and is not what its publisher states. */
export class ChecksumMismatchError extends Error {
  override readonly name = "ChecksumMismatchError";
}

/** No connection to a host could be made: no use in asking it for anything else. */
export class HostUnreachableError extends Error {
  override readonly name = "HostUnreachableError";
  readonly host: string;
  /** What went wrong, without the URL. */
  readonly reason: string;

  constructor(url: string, reason: string, options?: ErrorOptions) {
    super(`${url}: ${reason}`, options);
    this.host = new URL(url).host;
    this.reason = reason;
  }
}

/** A published file. */
export interface Download {
  readonly url: string;
  readonly checksumUrl: string;
  /** Its SHA-256, where that is known; else the document at `checksumUrl` is asked. */
  readonly sha256?: string | undefined;
  /** Where to put it. */
  readonly path: string;
  /** Called for every piece that arrives; `total` as far as the server tells. */
  readonly onBytes: (bytes: number, total: number | undefined) => void;
}

/** Fetches the file; its SHA-256. Throws {@link ChecksumMismatchError} when that is not the known or stated one. */
export async function download(file: Download, options: FetchOptions): Promise<string> {
  const expected = file.sha256 ?? (await publishedSha256(file, options));
  const found = await withResponse(file.url, options, async (response) => {
    const length = Number(response.headers.get("content-length"));
    const total = length > 0 ? length : undefined;
    const hash = createHash("sha256");
    let bytes = 0;
    async function* observed(): AsyncGenerator<Uint8Array> {
      for await (const piece of response.body ?? []) {
        hash.update(piece);
        bytes += piece.byteLength;
        file.onBytes(bytes, total);
        yield piece;
      }
    }
    await pipeline(observed, createWriteStream(file.path));
    return hash.digest("hex");
  });
  if (found !== expected) {
    throw new ChecksumMismatchError(
      `expected ${file.url} to have the SHA-256 ${expected} that ${file.sha256 ? "is recorded for it" : `${file.checksumUrl} states`}, but found ${found}. ` +
        "Nothing was installed. Something between here and the publisher changes or cuts the file: look for a " +
        "proxy or a mirror, or install the program yourself and point KUBEBUILDER_ASSETS to its folder.",
    );
  }
  return found;
}

async function publishedSha256({ url, checksumUrl }: Download, options: FetchOptions): Promise<string> {
  const text = await withResponse(checksumUrl, options, (response) => response.text());
  const name = url.slice(url.lastIndexOf("/") + 1);
  const digest = findSha256(text, name);
  if (!digest) throw new Error(`expected a SHA-256 of ${name} in ${checksumUrl}, but found none`);
  return digest;
}

/**
 * The digest that a checksum document states for a file: the digest alone, a line of `sha256sum`'s output, or an
 * asset of a GitHub release.
 */
export function findSha256(text: string, name: string): string | undefined {
  const alone = /^\s*([0-9a-f]{64})\s*$/i.exec(text)?.[1];
  if (alone) return alone.toLowerCase();
  if (text.trimStart().startsWith("{")) return findAssetDigest(text, name);
  for (const line of text.split("\n")) {
    const [, digest, file] = /^([0-9a-f]{64})\s+\*?(?:\.\/)?(\S+)\s*$/i.exec(line) ?? [];
    if (digest && file === name) return digest.toLowerCase();
  }
  return undefined;
}

function findAssetDigest(json: string, name: string): string | undefined {
  const release: { assets?: { name?: string; digest?: string | null }[] } = JSON.parse(json);
  const asset = release.assets?.find((candidate) => candidate.name === name);
  return /^sha256:([0-9a-f]{64})$/.exec(asset?.digest ?? "")?.[1];
}

async function withResponse<T>(
  url: string,
  { patience, signal }: FetchOptions,
  use: (response: Response) => Promise<T>,
): Promise<T> {
  const dispatcher = new EnvHttpProxyAgent({
    connect: { timeout: patience.connectMillis },
    headersTimeout: patience.stallMillis,
    bodyTimeout: patience.stallMillis,
  });
  try {
    const response = await fetch(url, { dispatcher, ...(signal && { signal }) });
    if (!response.ok) throw new Error(`${url} answered ${response.status} ${response.statusText}`.trim());
    return await use(response);
  } catch (error) {
    signal?.throwIfAborted();
    throw readable(url, error);
  } finally {
    await dispatcher.destroy();
  }
}

const unreachableCodes = new Set([
  "UND_ERR_CONNECT_TIMEOUT",
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ENETUNREACH",
  "EHOSTUNREACH",
]);

/** fetch hides what went wrong in the cause of "fetch failed". */
function readable(url: string, error: unknown): Error {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : undefined;
  if (!cause) return error instanceof Error ? error : new Error(String(error));
  const code = (cause as NodeJS.ErrnoException).code;
  const reason = cause.message || code || cause.name;
  return code !== undefined && unreachableCodes.has(code)
    ? new HostUnreachableError(url, reason, { cause: error })
    : new Error(`${url}: ${reason}`, { cause: error });
}

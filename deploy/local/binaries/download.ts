/** Downloads published files and verifies their checksums. */
import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { ExpectedError } from "denrei/runtime";
import { EnvHttpProxyAgent, fetch, type Response } from "undici";

/** Timeouts, in milliseconds. */
export interface Timeouts {
  /** For connecting, including TLS. */
  readonly connectMillis: number;
  /** For the next piece of the response. */
  readonly stallMillis: number;
}

/** Options of a download. */
export interface FetchOptions {
  readonly timeouts: Timeouts;
  readonly signal?: AbortSignal | undefined;
}

/** The complete file differs from what its publisher states. */
export class ChecksumMismatchError extends ExpectedError {
  override readonly name = "ChecksumMismatchError";
}

/** The host accepts no connection, so further requests to it would fail too. */
export class HostUnreachableError extends Error {
  override readonly name = "HostUnreachableError";
  readonly host: string;
  /** The reason, without the URL. */
  readonly reason: string;

  constructor(url: string, reason: string, options?: ErrorOptions) {
    super(`${url}: ${reason}`, options);
    this.host = new URL(url).host;
    this.reason = reason;
  }
}

/** A published file to download. */
export interface Download {
  readonly url: string;
  readonly checksumUrl: string;
  /** Its recorded SHA-256. If undefined, the one in the document at `checksumUrl` counts. */
  readonly sha256?: string | undefined;
  /** The file to write. */
  readonly path: string;
  /** Called for every chunk. `total` is undefined when the server does not send it. */
  readonly onBytes: (bytes: number, total: number | undefined) => void;
}

/** Downloads the file and returns its SHA-256. Throws {@link ChecksumMismatchError} when that is not the expected one. */
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
      `${file.url} has the SHA-256 ${found}, but ${file.sha256 ? "its recorded one is" : `${file.checksumUrl} states`} ${expected}. ` +
        "Nothing was installed. Something between this machine and the publisher modifies or truncates the file: look for a " +
        "proxy or a mirror, or install the program yourself and point KUBEBUILDER_ASSETS to its folder.",
    );
  }
  return found;
}

async function publishedSha256({ url, checksumUrl }: Download, options: FetchOptions): Promise<string> {
  const text = await withResponse(checksumUrl, options, (response) => response.text());
  const name = url.slice(url.lastIndexOf("/") + 1);
  const digest = findSha256(text, name);
  if (!digest) throw new Error(`no SHA-256 of ${name} in ${checksumUrl}`);
  return digest;
}

/**
 * The digest of a file in a checksum document: the digest alone, a line of `sha256sum` output, or an asset of a GitHub
 * release.
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
  { timeouts, signal }: FetchOptions,
  use: (response: Response) => Promise<T>,
): Promise<T> {
  const dispatcher = new EnvHttpProxyAgent({
    connect: { timeout: timeouts.connectMillis },
    headersTimeout: timeouts.stallMillis,
    bodyTimeout: timeouts.stallMillis,
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

/** fetch reports only "fetch failed" and puts the reason into the cause. */
function readable(url: string, error: unknown): Error {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : undefined;
  if (!cause) return error instanceof Error ? error : new Error(String(error));
  const code = (cause as NodeJS.ErrnoException).code;
  const reason = cause.message || code || cause.name;
  return code !== undefined && unreachableCodes.has(code)
    ? new HostUnreachableError(url, reason, { cause: error })
    : new Error(`${url}: ${reason}`, { cause: error });
}

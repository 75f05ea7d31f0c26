/** Serves the built page, with its security headers. */
import { glob, readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { Hono, type MiddlewareHandler } from "hono";
import type { Parts } from "./env.ts";

interface PageFile {
  readonly type: string;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly gzip: Uint8Array<ArrayBuffer>;
}

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".json": "application/json",
};

/** Allows only files of this host, even if markup is injected into the page. Forms may also post to GitHub, to create an App. */
const contentSecurityPolicy = (githubUrls: readonly string[]): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    ["form-action 'self'", ...githubUrls.map((url) => new URL(url).origin)].join(" "),
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");

/** One year, for this host only. */
const strictTransport = "max-age=31536000";

/** Adds the security headers to every response. */
export const securityHeaders = ({
  url,
  githubUrls,
}: Pick<Parts, "url" | "githubUrls">): MiddlewareHandler => {
  const policy = contentSecurityPolicy(githubUrls);
  return async (c, next) => {
    await next();
    c.header("content-security-policy", policy);
    c.header("x-content-type-options", "nosniff");
    c.header("referrer-policy", "no-referrer");
    c.header("cross-origin-opener-policy", "same-origin");
    c.header("cross-origin-resource-policy", "same-origin");
    c.header("permissions-policy", "camera=(), geolocation=(), microphone=()");
    if (url.startsWith("https:")) c.header("strict-transport-security", strictTransport);
    if (!c.res.headers.has("cache-control")) c.header("cache-control", "no-store");
  };
};

/** Folder of the built scripts and styles. */
const assets = "/assets/";

/** The built page. */
export interface Page {
  readonly files: ReadonlyMap<string, PageFile>;
  readonly index: PageFile;
  /** The path of the entry script, which names the version: it contains a hash of the sources. */
  readonly version: string;
}

/** Reads the page from a folder. Throws if it is not built. */
export async function readPage(folder: string): Promise<Page> {
  const files = new Map<string, PageFile>();
  for await (const path of glob("**/*.*", { cwd: folder })) {
    const type = types[extname(path)];
    if (type === undefined) continue;
    const body = new Uint8Array(await readFile(join(folder, path)));
    files.set(`/${path}`, { type, body, gzip: new Uint8Array(gzipSync(body)) });
  }
  const index = files.get("/index.html");
  const version = index && entryScript.exec(new TextDecoder().decode(index.body))?.[1];
  if (index === undefined || version === undefined)
    throw new Error(`no index.html with a script in ${folder}: the dashboard's page is not built`);
  return { files, index, version };
}

const entryScript = /<script type="module"[^>]* src="([^"]+)"/;

/** Names the version of the page, so that an older one offers to reload. */
export const versionHeader =
  ({ version }: Page): MiddlewareHandler =>
  async (c, next) => {
    await next();
    c.header("x-denrei-page", version);
  };

/** Serves the files of the page, and `index.html` for every other path. */
export function pageRoutes({ files, index }: Page): Hono {
  const app = new Hono();
  app.get("*", (c) => {
    const file = files.get(c.req.path);
    // Outside the assets a path may contain a dot, because object names may.
    if (file === undefined && c.req.path.startsWith(assets)) return c.text("no such file\n", 404);
    const { type, body, gzip } = file ?? index;
    c.header("content-type", type);
    c.header("vary", "accept-encoding");
    // The file names contain content hashes.
    if (c.req.path.startsWith(assets)) c.header("cache-control", "public, max-age=31536000, immutable");
    if (!/\bgzip\b/.test(c.req.header("accept-encoding") ?? "")) return c.body(body);
    c.header("content-encoding", "gzip");
    return c.body(gzip);
  });
  return app;
}

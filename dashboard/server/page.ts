/** The page: files that were built, and what browsers are to refuse of it. */
import { glob, readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { Hono, type MiddlewareHandler } from "hono";
import type { Parts } from "./env.ts";

/** A file, as it is sent. */
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

/** Scripts, styles and pictures are our own files, whatever text gets into the page. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

/** A year, for this host: others of the domain are not ours to speak for. */
const strictTransport = "max-age=31536000";

/** Headers of every answer. */
export const securityHeaders =
  ({ url }: Pick<Parts, "url">): MiddlewareHandler =>
  async (c, next) => {
    await next();
    c.header("content-security-policy", contentSecurityPolicy);
    c.header("x-content-type-options", "nosniff");
    c.header("referrer-policy", "no-referrer");
    c.header("cross-origin-opener-policy", "same-origin");
    c.header("cross-origin-resource-policy", "same-origin");
    c.header("permissions-policy", "camera=(), geolocation=(), microphone=()");
    if (url.startsWith("https:")) c.header("strict-transport-security", strictTransport);
    if (!c.res.headers.has("cache-control")) c.header("cache-control", "no-store");
  };

/** Where the build puts what its pages load. */
const assets = "/assets/";

/** Serves a folder's files, read once, and `index.html` for every address of the page. */
export async function pageRoutes(folder: string): Promise<Hono> {
  const files = new Map<string, PageFile>();
  for await (const path of glob("**/*.*", { cwd: folder })) {
    const type = types[extname(path)];
    if (type === undefined) continue;
    const body = new Uint8Array(await readFile(join(folder, path)));
    files.set(`/${path}`, { type, body, gzip: new Uint8Array(gzipSync(body)) });
  }
  const index = files.get("/index.html");
  if (index === undefined) throw new Error(`expected the page's files in ${folder}, found no index.html`);
  const app = new Hono();
  app.get("*", (c) => {
    const file = files.get(c.req.path);
    // Everywhere else a name may have a dot in it: those of objects do.
    if (file === undefined && c.req.path.startsWith(assets))
      return c.text("expected a file of the page, found none\n", 404);
    const { type, body, gzip } = file ?? index;
    c.header("content-type", type);
    c.header("vary", "accept-encoding");
    // Their names say what is in them.
    if (c.req.path.startsWith(assets)) c.header("cache-control", "public, max-age=31536000, immutable");
    if (!/\bgzip\b/.test(c.req.header("accept-encoding") ?? "")) return c.body(body);
    c.header("content-encoding", "gzip");
    return c.body(gzip);
  });
  return app;
}

/** Builds the page: `dashboard/web/src` becomes the files of `dashboard/web/dist`. */
import { fileURLToPath } from "node:url";
import { build } from "vite";

const root = fileURLToPath(new URL(".", import.meta.url));

/** Builds it. Throws when it can not be built. */
export async function buildPage(): Promise<void> {
  await build({
    root,
    configFile: false,
    logLevel: "warn",
    resolve: { alias: [{ find: /^zod$/, replacement: `${root}zod.ts` }] },
    oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
    build: {
      target: "es2024",
      // No inline code or pictures: the page's policy refuses them.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      // Which file has which screen, for whoever wants to know how large it is.
      manifest: "manifest.json",
    },
  });
}

if (import.meta.main) await buildPage();

/** Builds the page: `dashboard/web/src` becomes the files of `dashboard/web/dist`. */
import { fileURLToPath } from "node:url";
import { build } from "vite";
import { runbooksPlugin } from "./runbooks.ts";

const root = fileURLToPath(new URL(".", import.meta.url));

/** Builds the page. Throws if the build fails. */
export async function buildPage(): Promise<void> {
  await build({
    root,
    configFile: false,
    logLevel: "warn",
    plugins: [runbooksPlugin()],
    resolve: { alias: [{ find: /^zod$/, replacement: `${root}zod.ts` }] },
    oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
    build: {
      target: "es2024",
      // The page's content security policy blocks inline code and images.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      // Maps screens to files, so that a test can measure them.
      manifest: "manifest.json",
    },
  });
}

if (import.meta.main) await buildPage();

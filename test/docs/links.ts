/** Links between files of the repository. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { type Page, pageOf } from "./markdown.ts";

/** The pages of a folder. Each is read once. */
export function pagesIn(root: string) {
  const pages = new Map<string, Page>();
  function page(path: string): Page {
    const known = pages.get(path) ?? pageOf(readFileSync(join(root, path), "utf8"));
    pages.set(path, known);
    return known;
  }

  /** What is wrong with a link on a page; undefined when it is as it should be, or leads elsewhere. */
  function problemOfLink(from: string, link: string): string | undefined {
    if (/^[a-z][a-z0-9+.-]*:/i.test(link)) return undefined;
    const [target = "", anchor] = link.split("#", 2).map(decodeURIComponent);
    if (target.startsWith("/")) return "expected a path from the page's own folder";
    const path = target === "" ? from : relative(root, join(root, dirname(from), target));
    if (path.startsWith("..")) return "it leads out of the repository";
    if (!existsSync(join(root, path))) return `there is no ${path}`;
    if (anchor === undefined || !path.endsWith(".md") || page(path).anchors.has(anchor)) return undefined;
    return `${path} has no #${anchor}, but ${[...page(path).anchors].map((name) => `#${name}`).join(", ")}`;
  }

  return { page, problemOfLink };
}

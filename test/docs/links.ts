/** Checks links between files of the repository. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { type Page, pageOf } from "./markdown.ts";

/** The pages below `root`; each is read once. */
export function pagesIn(root: string) {
  const pages = new Map<string, Page>();
  function page(path: string): Page {
    const known = pages.get(path) ?? pageOf(readFileSync(join(root, path), "utf8"));
    pages.set(path, known);
    return known;
  }

  /** Describes the error in a link; undefined for valid links and for URLs. */
  function problemOfLink(from: string, link: string): string | undefined {
    if (/^[a-z][a-z0-9+.-]*:/i.test(link)) return undefined;
    const [target = "", anchor] = link.split("#", 2).map(decodeURIComponent);
    if (target.startsWith("/")) return "the path has to be relative to the page";
    const path = target === "" ? from : relative(root, join(root, dirname(from), target));
    if (path.startsWith("..")) return "the path is outside the repository";
    if (!existsSync(join(root, path))) return `${path} does not exist`;
    if (anchor === undefined || !path.endsWith(".md") || page(path).anchors.has(anchor)) return undefined;
    return `${path} has no #${anchor}; it has ${[...page(path).anchors].map((name) => `#${name}`).join(", ")}`;
  }

  return { page, problemOfLink };
}

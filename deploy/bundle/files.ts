/** Files that modules open by their URL (`new URL("./x", import.meta.url)`): a bundle has copies of them. */
import { createHash } from "node:crypto";
import { existsSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, relative, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Plugin } from "rolldown";

/** A file or folder to copy. */
export interface Copied {
  readonly from: string;
  /** Its path in the bundle. */
  readonly to: string;
  /** Whether it is a folder of modules, which run unchanged and may import packages. */
  readonly isProgram: boolean;
}

/** What {@link referredFiles} needs to know. */
export interface FilesOptions {
  /** The module that `denrei.js` replaces. */
  readonly launcher: string;
  /** The project's folder. Names of copies derive from paths relative to it, so each build has the same. */
  readonly root: string;
  /** Receives each file and folder to copy; the same one perhaps several times. */
  onCopy(copied: Copied): void;
  /** Receives a sentence about a module that finds files in another way, which the bundle does not have. */
  onWarning(text: string): void;
}

/** A URL of a file, and whether it is the program of a thread. */
const reference = /(\bnew Worker\(\s*)?\bnew URL\(\s*"([^"$]+)",\s*import\.meta\.url,?\s*\)/g;

/**
 * A plugin that replaces URLs of files. The program of a thread becomes a chunk. Of the program of a process, the folder is copied:
 * such a process may restrict which files it reads, and find modules by their names. Any other file or folder is copied unchanged.
 *
 * All modules of a bundle are in one folder, so a path is the same from each of them.
 */
export function referredFiles({ launcher, root, onCopy, onWarning }: FilesOptions): Plugin {
  const copyNameOf = (path: string): string => `${basename(path)}-${digestOf(relative(root, path))}`;
  const copied = (path: string): string => {
    if (path === launcher) return "denrei.js";
    if (statSync(path).isDirectory()) {
      const to = `files/${copyNameOf(path)}`;
      onCopy({ from: path, to, isProgram: false });
      return `${to}/`;
    }
    const folder = dirname(path);
    const to = `files/${copyNameOf(folder)}`;
    const isProgram = /\.[cm]?[jt]s$/.test(path);
    onCopy(
      isProgram ? { from: folder, to, isProgram } : { from: path, to: `${to}/${basename(path)}`, isProgram },
    );
    return `${to}/${basename(path)}`;
  };
  const denrei = dirname(dirname(launcher));
  const isOwn = (id: string): boolean =>
    isAbsolute(id) && !/[\\/]node_modules[\\/]/.test(id) && !id.startsWith(denrei + sep);
  return {
    name: "denrei:files",
    transform: {
      filter: { code: /import\.meta\.(url|dirname|filename)/ },
      handler(code, id) {
        if (isOwn(id) && /import\.meta\.(dirname|filename)/.test(code))
          onWarning(
            `${relative(root, id)} uses its path, which is that of the bundle there: name files by new URL("./file", import.meta.url)`,
          );
        const changed = code.replaceAll(reference, (text, thread: string | undefined, specifier: string) => {
          const path = fileURLToPath(new URL(specifier, pathToFileURL(id)));
          if (!existsSync(path)) return text;
          const name = `${basename(path).replace(/\.[jt]s$/, "")}-${digestOf(relative(root, path))}.js`;
          if (thread !== undefined) this.emitFile({ type: "chunk", id: path, fileName: name });
          const to = thread === undefined ? copied(path) : name;
          return `${thread ?? ""}new URL("./${to}", import.meta.url)`;
        });
        // Lines stay the same.
        return { code: changed, map: null };
      },
    },
  };
}

const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 8);

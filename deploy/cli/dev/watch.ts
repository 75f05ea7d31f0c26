/** Noticing that source files were saved. */
import { relative } from "node:path";
import { watch } from "chokidar";

/** What to watch, and who is told. */
export interface SavesOptions {
  /** The root of the project. */
  readonly root: string;
  readonly signal: AbortSignal;
  /** Told of saved, new and removed files, by their paths from the root. */
  readonly onSaved: (paths: readonly string[]) => void;
  /** Something can not be watched any more; told once for each sort of error. */
  readonly onTrouble: (error: Error) => void;
}

/** Where the code of functions is, and of what runs them. */
export const watchedFolders = ["functions", "bus"] as const;

/** An editor that saves all files, or a checkout, is one save. Milliseconds. */
const quietMillis = 40;
/** One that does not come to an end is not waited for. Milliseconds. */
const longestMillis = 500;

const isSource = (path: string): boolean => /\.(ts|js|json)$/.test(path) && !/\.test\.ts$/.test(path);

/** Watches until the signal aborts; resolves when every folder is watched. */
export async function watchSaves({ root, signal, onSaved, onTrouble }: SavesOptions): Promise<void> {
  const saved = new Set<string>();
  let since: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  function tell(): void {
    const paths = [...saved].sort();
    saved.clear();
    since = undefined;
    onSaved(paths);
  }
  const watcher = watch([...watchedFolders], {
    cwd: root,
    ignoreInitial: true,
    ignored: (path, stats) =>
      /(^|\/)node_modules(\/|$)/.test(relative(root, path)) || (stats?.isFile() === true && !isSource(path)),
  });
  watcher.on("all", (event, path) => {
    if (event.endsWith("Dir") || !isSource(path)) return;
    saved.add(path);
    since ??= performance.now();
    clearTimeout(timer);
    timer = setTimeout(tell, Math.min(quietMillis, since + longestMillis - performance.now()));
  });
  await new Promise<void>((resolve, reject) => {
    watcher.once("ready", resolve);
    watcher.once("error", reject);
  });
  const told = new Set<string | undefined>();
  watcher.on("error", (reason) => {
    const error = reason as NodeJS.ErrnoException;
    if (told.has(error.code)) return;
    told.add(error.code);
    onTrouble(error);
  });
  const close = (): void => {
    clearTimeout(timer);
    void watcher.close();
  };
  if (signal.aborted) close();
  else signal.addEventListener("abort", close, { once: true });
}

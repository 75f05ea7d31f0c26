/** Watching source files for saves. */
import { relative } from "node:path";
import { watch } from "chokidar";

/** What to watch. */
export interface SavesOptions {
  readonly root: string;
  readonly signal: AbortSignal;
  /** Called with the paths of saved, new, and removed files, relative to the root. */
  readonly onSaved: (paths: readonly string[]) => void;
  /** Called when something can no longer be watched, once per error code. */
  readonly onError: (error: Error) => void;
}

/** Folders without code of functions. So are those whose names start with a dot. */
const ignoredFolder = /^(test|tests|docs|dist|coverage)(\/|$)|(^|\/)(node_modules|\.[^/]+)(\/|$)/;

/** Whether a file may be code of functions. The path is relative to the project. */
export const isProjectSource = (path: string): boolean => !path.startsWith("..") && !ignoredFolder.test(path);

/** Groups the files of a checkout, or of an editor that saves all files, into one save. Milliseconds. */
const quietMillis = 40;
/** Longest time to wait for such a group. Milliseconds. */
const longestMillis = 500;

const isSource = (path: string): boolean => /\.(ts|js|json)$/.test(path) && !/\.test\.ts$/.test(path);

/** Watches until the signal aborts; resolves when the project is watched. */
export async function watchSaves({ root, signal, onSaved, onError }: SavesOptions): Promise<void> {
  const saved = new Set<string>();
  let since: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  function report(): void {
    const paths = [...saved].sort();
    saved.clear();
    since = undefined;
    onSaved(paths);
  }
  const watcher = watch(".", {
    cwd: root,
    ignoreInitial: true,
    ignored: (path, stats) =>
      ignoredFolder.test(relative(root, path)) || (stats?.isFile() === true && !isSource(path)),
  });
  watcher.on("all", (event, path) => {
    if (event.endsWith("Dir") || !isSource(path)) return;
    saved.add(path);
    since ??= performance.now();
    clearTimeout(timer);
    timer = setTimeout(report, Math.min(quietMillis, since + longestMillis - performance.now()));
  });
  await new Promise<void>((resolve, reject) => {
    watcher.once("ready", resolve);
    watcher.once("error", reject);
  });
  const reported = new Set<string | undefined>();
  watcher.on("error", (reason) => {
    const error = reason as NodeJS.ErrnoException;
    if (reported.has(error.code)) return;
    reported.add(error.code);
    onError(error);
  });
  const close = (): void => {
    clearTimeout(timer);
    void watcher.close();
  };
  if (signal.aborted) close();
  else signal.addEventListener("abort", close, { once: true });
}

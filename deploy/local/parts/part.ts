/** Options of every part of the platform, and progress of its start. */
import type { ChildSpec, Exit } from "../run/child.ts";
import type { PartName } from "../versions.ts";

/** Options of every part. */
export interface PartOptions {
  /** Path of the program. */
  readonly binary: string;
  readonly signal?: AbortSignal | undefined;
  readonly onUnexpectedExit?: ChildSpec["onUnexpectedExit"];
}

/** A part is starting, or is ready. */
export type PartProgress = { readonly binary: PartName; readonly detail: string } & (
  | { readonly phase: "starting" }
  | { readonly phase: "ready"; readonly elapsedMillis: number }
);

/** Receives progress and failures of parts. */
export interface PartObserver {
  readonly onProgress?: ((progress: PartProgress) => void) | undefined;
  /** Called when a part ends without having been stopped. The platform does not restart parts. */
  readonly onUnexpectedExit?: ((part: PartName, exit: Exit) => void) | undefined;
  /** Aborts a start in progress. */
  readonly signal?: AbortSignal | undefined;
}

/** Starts a part and reports to the observer when it starts and when it is ready. */
export async function startObserved<T>(
  part: PartName,
  binary: string,
  { onProgress, onUnexpectedExit, signal }: PartObserver,
  start: (options: PartOptions) => Promise<T>,
): Promise<T> {
  const startedAt = performance.now();
  onProgress?.({ binary: part, phase: "starting", detail: binary });
  const started = await start({ binary, signal, onUnexpectedExit: (exit) => onUnexpectedExit?.(part, exit) });
  const elapsedMillis = Math.round(performance.now() - startedAt);
  onProgress?.({ binary: part, phase: "ready", detail: `after ${elapsedMillis} ms`, elapsedMillis });
  return started;
}

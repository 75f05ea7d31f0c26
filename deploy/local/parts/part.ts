/** What every part of the platform is started with, and how its start is told. */
import type { ChildSpec, Exit } from "../run/child.ts";
import type { PartName } from "../versions.ts";

/** What every part needs. */
export interface PartOptions {
  /** Path of the program. */
  readonly binary: string;
  readonly signal?: AbortSignal | undefined;
  readonly onUnexpectedExit?: ChildSpec["onUnexpectedExit"];
}

/** A part is being started, or works. */
export type PartProgress = { readonly binary: PartName; readonly detail: string } & (
  | { readonly phase: "starting" }
  | { readonly phase: "ready"; readonly elapsedMillis: number }
);

/** Who wants to know about the parts. */
export interface PartObserver {
  readonly onProgress?: ((progress: PartProgress) => void) | undefined;
  /** Called when a part ends that nobody stopped. Parts are not started again by themselves. */
  readonly onUnexpectedExit?: ((part: PartName, exit: Exit) => void) | undefined;
  /** Ends a start that is under way. */
  readonly signal?: AbortSignal | undefined;
}

/** Starts a part and tells the observer when it begins and when it works. */
export async function observed<T>(
  part: PartName,
  binary: string,
  { onProgress, onUnexpectedExit, signal }: PartObserver,
  start: (options: PartOptions) => Promise<T>,
): Promise<T> {
  const begun = performance.now();
  onProgress?.({ binary: part, phase: "starting", detail: binary });
  const started = await start({ binary, signal, onUnexpectedExit: (exit) => onUnexpectedExit?.(part, exit) });
  const elapsedMillis = Math.round(performance.now() - begun);
  onProgress?.({ binary: part, phase: "ready", detail: `after ${elapsedMillis} ms`, elapsedMillis });
  return started;
}

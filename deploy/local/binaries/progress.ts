/** Progress of obtaining programs, for display. */
import type { BinaryName } from "../versions.ts";

/** One step. `detail` is a phrase for people. */
export type Progress = { readonly binary: BinaryName; readonly detail: string } & (
  | {
      /**
       * `found`: the program is available. `waiting`: another process is getting it. `verifying`: checking it. `unavailable`:
       * one source does not have it, and the next one is tried.
       */
      readonly phase: "found" | "waiting" | "verifying" | "unavailable";
    }
  | {
      readonly phase: "downloading";
      readonly bytes: number;
      /** Undefined when the server does not send it. */
      readonly total: number | undefined;
    }
  | { readonly phase: "building"; readonly elapsedSeconds: number }
);

/** Receives every step. */
export type OnProgress = (progress: Progress) => void;

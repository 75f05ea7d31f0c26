/** What is being done to get a program, for whoever shows it. */
import type { BinaryName } from "../versions.ts";

/** One step. `detail` is a phrase for people. */
export type Progress = { readonly binary: BinaryName; readonly detail: string } & (
  | {
      /**
       * `found`: it is there. `waiting`: another process is getting it. `verifying`: checking it. `unavailable`: one
       * source did not have it, the next one is tried.
       */
      readonly phase: "found" | "waiting" | "verifying" | "unavailable";
    }
  | {
      readonly phase: "downloading";
      readonly bytes: number;
      /** Undefined when the server does not say. */
      readonly total: number | undefined;
    }
  | { readonly phase: "building"; readonly elapsedSeconds: number }
);

/** Receives every step. */
export type OnProgress = (progress: Progress) => void;

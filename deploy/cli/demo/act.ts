/** What a demo shows. */
import type { ProgressDisplay } from "./progress.ts";
import type { Cast, Stage } from "./stage.ts";

/** What the user asked for. */
export interface DemoOptions {
  readonly mode: "demo" | "up";
  /** What is to be seen. */
  readonly act: "song" | "github" | "paas" | "pipecd" | "dashboard";
  /** As many as the act needs unless given. */
  readonly workers?: number;
  /** Path of a program that plays GitHub. */
  readonly github?: string;
  /** Path of a program that plays kpack. */
  readonly kpack?: string;
  /** Path of a program that plays PipeCD. */
  readonly pipecd?: string;
  /** Path of a program that plays the login at the dashboard. */
  readonly login?: string;
  /** Whether there is to be a dashboard, where there can be one; there is unless somebody says no. */
  readonly dashboard?: boolean;
  /** The folder that pictures of the dashboard's screens are put into, which are taken by the program at that path. */
  readonly screenshots?: string;
  readonly photographer?: string;
}

/** What there is to be seen on a stage. */
export interface Act {
  readonly cast: Cast;
  /** Resolves when it is over, or `signal` aborts; rejects when it can not go on. */
  play(stage: Stage, display: ProgressDisplay, signal: AbortSignal): Promise<void>;
}

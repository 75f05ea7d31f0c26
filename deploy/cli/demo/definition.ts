/** The demos, as `denrei demo` selects them. */
import type { RunningDashboard } from "../../environment/dashboard.ts";
import type { ProgressDisplay } from "../../environment/progress.ts";
import type { SimulatedGitHub } from "../../environment/simulators/github.ts";
import type { DemoEnvironment, DemoParts } from "./environment.ts";

/** What the user asked for. */
export interface DemoOptions {
  readonly mode: "demo" | "up";
  readonly name: "song" | "github" | "paas" | "pipecd" | "dashboard";
  /** The demo's default unless given. */
  readonly workers?: number;
  /** False for `--no-dashboard`. */
  readonly dashboard?: boolean;
  /** Runs functions with the rights of the kubeconfig's user. */
  readonly ownRights?: true;
  /** Runs once the dashboard shows everything; the demo ends when it resolves. Only for `dashboard`. */
  readonly onShown?: (shown: ShownDashboard) => Promise<void>;
}

/** The dashboard of the demo `dashboard`. */
export interface ShownDashboard {
  readonly dashboard: RunningDashboard;
  readonly namespace: string;
  readonly github: SimulatedGitHub;
  readonly signal: AbortSignal;
}

/** A demo. */
export interface Demo {
  readonly parts: DemoParts;
  /** Resolves when it is over, or `signal` aborts; rejects on failure. */
  run(environment: DemoEnvironment, display: ProgressDisplay, signal: AbortSignal): Promise<void>;
}

/** The interface through which the benchmark runs a receiver of webhooks. */
import type { Child } from "../../../deploy/local/index.ts";
import type { Pids } from "../processes.ts";

/** The two sides: ours, or Probot. */
export type ReceiverName = "denrei" | "probot";

/** One side of the comparison. */
export interface Receiver {
  readonly name: ReceiverName;
  /** Starts it without data; `label` names the round in its logs. */
  start(label: string): Promise<RunningReceiver>;
}

/** A listening receiver. */
export interface RunningReceiver {
  /** The URL for deliveries. */
  readonly url: string;
  /** The processes that a delivery passes through. */
  readonly pids: Pids;
  /** The number of distinct deliveries it has stored; undefined if it stores none. */
  kept(): Promise<number | undefined>;
  stop(): ReturnType<Child["stop"]>;
}

/** Who receives webhooks, as the benchmark drives it. */
import type { Child } from "../../../deploy/local/index.ts";
import type { Pids } from "../processes.ts";

/** Which of the two: ours, or Probot. */
export type ReceiverName = "denrei" | "probot";

/** One side of the comparison. */
export interface Receiver {
  readonly name: ReceiverName;
  /** Starts it afresh; `label` names the round in its logs. */
  start(label: string): Promise<RunningReceiver>;
}

/** A receiver that listens. */
export interface RunningReceiver {
  /** Where deliveries are posted. */
  readonly url: string;
  /** Everything that a delivery passes through. */
  readonly pids: Pids;
  /** How many different deliveries it keeps; undefined if it keeps none. */
  kept(): Promise<number | undefined>;
  stop(): ReturnType<Child["stop"]>;
}

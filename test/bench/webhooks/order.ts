/** What the benchmark and its load generator have agreed on. */

/** Deliveries to make. */
export interface Order {
  /** Address of the webhook. */
  readonly url: string;
  readonly deliveries: number;
  /** Connections, each with one delivery under way. */
  readonly connections: number;
}

/** What became of an order. */
export interface Made {
  /** From the first delivery that was begun to the last answer. */
  readonly seconds: number;
  /** How many deliveries were answered with each status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** From a delivery's first byte to its answer's last, in the order of the answers. */
  readonly millis: readonly number[];
}

/** The protocol between the benchmark and its load generator. */

/** Deliveries to send. */
export interface Order {
  /** URL of the webhook. */
  readonly url: string;
  readonly deliveries: number;
  /** Connections, each with one delivery in flight. */
  readonly connections: number;
}

/** The result of an order. */
export interface Made {
  /** From the start of the first delivery to the last response. */
  readonly seconds: number;
  /** The number of responses by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** From a delivery's first byte to its response's last, in the order of the responses. */
  readonly millis: readonly number[];
}

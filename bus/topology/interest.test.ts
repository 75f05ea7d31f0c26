import { expect, test } from "vitest";
import { functionConsumers } from "../topology.ts";

const subscription = {
  scope: { fn: "hikawa", cluster: "default" },
  kinds: [{ group: "zundokokiyoshi.kaitoy.github.com", kind: "Hikawa" }],
};

test.each([3000, 10_000])(
  "a killed worker's messages, including events that it was routing, are redelivered within an AckWait of %i ms",
  (ackWaitMillis) => {
    const waits = functionConsumers(subscription, { replicas: 1, ackWaitMillis }).map(
      ([, { ack_wait = 0 }]) => ack_wait / 1e6,
    );
    expect(waits).toHaveLength(3);
    expect(Math.min(...waits)).toBeGreaterThan(0);
    expect(Math.max(...waits)).toBe(ackWaitMillis);
  },
);

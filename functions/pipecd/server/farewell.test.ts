import { expect, test } from "vitest";
import { deadlineMillis } from "./farewell.ts";

const told = (text?: string) => deadlineMillis({ DENREI_PIPECD_CLEANUP_SECONDS: text });

test("a control plane that will hardly come back is waited for five minutes, or as long as the worker is told", () => {
  expect([told(), told(""), told("1"), told("3600")]).toEqual([300_000, 300_000, 1_000, 3_600_000]);
});

test.each(["soon", "0", "-1", "1.5", "1e3", "99999999"])(
  "a worker that is told %s says what is expected",
  (text) => {
    expect(() => told(text)).toThrow(`whole number of seconds from 1 up, found "${text}"`);
  },
);

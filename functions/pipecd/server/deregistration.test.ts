import { expect, test } from "vitest";
import { deadlineMillis } from "./deregistration.ts";

const deadlineFor = (text?: string) => deadlineMillis({ DENREI_PIPECD_CLEANUP_SECONDS: text });

test("waits five minutes by default, or as long as the environment variable says", () => {
  const deadlines = [deadlineFor(), deadlineFor(""), deadlineFor("1"), deadlineFor("3600")];
  expect(deadlines).toEqual([300_000, 300_000, 1_000, 3_600_000]);
});

test.each(["soon", "0", "-1", "1.5", "1e3", "99999999"])("rejects the value %s", (text) => {
  expect(() => deadlineFor(text)).toThrow(`whole number of seconds from 1 up, found "${text}"`);
});

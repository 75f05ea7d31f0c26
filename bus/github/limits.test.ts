import { expect, onTestFinished, test, vi } from "vitest";
import { GitHubRateLimitedError } from "./errors.ts";
import { rateLimits } from "./limits.ts";

function clocked() {
  const clock = { millis: 5_000_000 };
  const limits = rateLimits(() => clock.millis);
  const wait = (who: string): number => {
    try {
      limits.check(who);
      return 0;
    } catch (error) {
      return (error as GitHubRateLimitedError).retryAfterMillis;
    }
  };
  const hold = (who: string, millis: number, status = 403) =>
    limits.hold(who, new GitHubRateLimitedError("slow down", status, millis));
  return { clock, limits, wait, hold };
}

test("rate limits - block only the limited caller, until the limit has passed", () => {
  const { clock, wait, hold } = clocked();
  expect(wait("a")).toBe(0);
  hold("a", 60_000);
  expect(wait("b")).toBe(0);
  clock.millis += 20_000;
  expect(wait("a")).toBe(40_000);
  clock.millis += 39_999;
  expect(wait("a")).toBe(1000);
  clock.millis += 1;
  expect(wait("a")).toBe(0);
});

test("rate limits - a shorter limit does not end a longer one", () => {
  const { clock, wait, hold } = clocked();
  hold("a", 3_600_000);
  hold("a", 5000);
  clock.millis += 3_599_000 - 1;
  expect(wait("a")).toBe(1001);
  clock.millis += 1001;
  expect(wait("a")).toBe(0);
});

test("rate limits - the error names the caller, the time, and the reason, in constant words", () => {
  vi.useFakeTimers({ toFake: ["Date"], now: new Date("2026-11-20T10:00:00Z") });
  onTestFinished(() => void vi.useRealTimers());
  const { clock, limits, hold } = clocked();
  hold("App 5 at https://api.github.com", 90_500, 429);
  for (const left of [90_500, 80_500]) {
    const check = () => limits.check("App 5 at https://api.github.com");
    expect(check).toThrow(GitHubRateLimitedError);
    expect(check).toThrow(
      "rate limited: GitHub answered 429 and allows no calls as App 5 at https://api.github.com before " +
        "2026-11-20T10:01:30.500Z; nothing was sent. Wait for the limit to pass.",
    );
    expect(check).toThrow(expect.objectContaining({ status: 429, retryAfterMillis: left }));
    clock.millis += 10_000;
    vi.setSystemTime("2026-11-20T10:00:10Z");
  }
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { GitHubAppClient, HookDelivery } from "../../bus/github/app.ts";
import { GitHubRateLimitedError, GitHubRefusedError } from "../../bus/github/errors.ts";
import { minutes } from "../../bus/values/durations.ts";
import { backfill, backfillOf } from "./backfill.ts";

const seconds = (n: number): number => n * 1000;
const hours = (n: number): number => n * 3_600_000;
const days = (n: number): number => n * 24 * 3_600_000;

const kept = days(3);
const grace = seconds(30);
const atOnce = 100;
/** Pause after a number of attempts. GitHub's own is followed at once. */
const pause = (attempts: number): number =>
  attempts === 1 ? 0 : Math.min(hours(6), minutes(5) * 2 ** (attempts - 2));

const now = Date.parse("2026-11-20T12:00:00Z");
let attempts = 0;
/** An attempt to deliver an event some time ago: GitHub's own, or a redelivery. */
const attempt = (guid: string, ago: number, statusCode = 502, redelivery = false): HookDelivery => ({
  id: String(9_007_199_254_740_993n + BigInt(++attempts)),
  guid,
  deliveredAt: new Date(now - ago),
  redelivery,
  status: statusCode < 300 ? "OK" : "failed",
  statusCode,
  event: "push",
});

describe("one webhook", () => {
  /** The redeliveries requested after attempts of one event, given by age. */
  const asked = (ago: readonly number[], statusCode = 502) => {
    const history = ago.map((one) => attempt("a", one, statusCode, one < Math.max(...ago)));
    const { toRedeliver: ids, missing, until } = backfillOf(history, now);
    const toRedeliver = ids.map((id) => history.findIndex((one) => one.id === id));
    return { toRedeliver, missing, until };
  };

  test.each([200, 202, 204, 299])("has arrived with the answer %i", (status) => {
    expect(asked([hours(1)], status)).toEqual({ toRedeliver: [], missing: 0, until: now - grace });
  });

  test.each([0, 199, 300, 400, 401, 403, 404, 408, 413, 429, 500, 502, 503])(
    "is redelivered at once after the answer %i",
    (status) => {
      expect(asked([hours(1)], status)).toEqual({ toRedeliver: [0], missing: 1, until: now - hours(1) });
    },
  );

  test("is counted as refused and not redelivered after a 422", () => {
    for (const ago of [[hours(1)], [hours(2), hours(1)]]) {
      const history = ago.map((one, n) => attempt("a", one, n === ago.length - 1 ? 422 : 502, n > 0));
      const found = { toRedeliver: [], missing: 0, refused: 1, until: now - grace };
      for (const some of [history, history.toReversed()]) expect(backfillOf(some, now)).toEqual(found);
    }
  });

  test("is redelivered after a refusal and a lost manual redelivery", () => {
    const history = [attempt("a", hours(2), 422), attempt("a", hours(1), 502, true)];
    expect(backfillOf(history, now)).toMatchObject({ toRedeliver: [history[1]?.id], missing: 1, refused: 0 });
  });

  test("has arrived if any attempt succeeded, even if a later one failed", () => {
    const some = [
      attempt("a", hours(1)),
      attempt("a", minutes(50), 202, true),
      attempt("a", minutes(40), 502, true),
    ];
    const arrived = { toRedeliver: [], missing: 0, refused: 0, until: now - grace };
    for (const history of [some, some.toReversed()]) expect(backfillOf(history, now)).toEqual(arrived);
  });

  test("is redelivered after pauses from five minutes, doubled up to six hours", () => {
    const pauses = [5, 10, 20, 40, 80, 160, 320, 360, 360].map(minutes);
    for (const [at, pause] of pauses.entries()) {
      const before = Array.from({ length: at + 1 }, (_, n) => hours(50) + minutes(n));
      expect(asked([pause - 1, ...before]), `${at + 2} attempts`).toMatchObject({
        toRedeliver: [],
        missing: 1,
      });
      expect(asked([...before, pause]).toRedeliver, `${at + 2} attempts`).toEqual([before.length]);
    }
  });

  test("may be in progress after a recent attempt, which limits the checked time", () => {
    for (const ago of [0, grace - 1, -seconds(5)]) {
      expect(asked([hours(1), ago])).toEqual({ toRedeliver: [], missing: 0, until: now - hours(1) });
      expect(asked([ago]).until).toBeLessThanOrEqual(now - grace);
    }
    expect(asked([grace]).toRedeliver).toEqual([0]);
  });

  test("is too old if only later attempts are listed", () => {
    const history = [hours(60), hours(50), hours(40)].map((ago) => attempt("a", ago, 502, true));
    expect(backfillOf(history, now)).toEqual({ toRedeliver: [], missing: 0, refused: 0, until: now - grace });
  });

  test("is given up after three days, when GitHub no longer redelivers it", () => {
    expect(asked([kept]).toRedeliver).toEqual([0]);
    expect(asked([kept + 1, hours(8)])).toMatchObject({
      toRedeliver: [],
      missing: 0,
      until: now - grace,
    });
  });
});

test("finds nothing missing without deliveries", () => {
  expect(backfillOf([], now)).toEqual({ toRedeliver: [], missing: 0, refused: 0, until: now - grace });
});

describe("any history", () => {
  const ago = fc.oneof(
    fc.integer({ min: -seconds(10), max: minutes(20) }),
    fc.integer({ min: 0, max: hours(8) }),
    fc.integer({ min: 0, max: kept + hours(12) }),
  );
  const status = fc.constantFrom(0, 200, 202, 404, 500, 502, 502, 502);
  const event = fc.record({
    tries: fc.array(fc.tuple(ago, status), { minLength: 1, maxLength: 6 }),
    // GitHub's own attempt is not always in the list.
    listed: fc.boolean(),
  });
  const history = fc
    .array(fc.oneof({ weight: 4, arbitrary: event.map(({ tries }) => ({ tries, listed: true })) }, event), {
      maxLength: 12,
    })
    .map((events) =>
      events.flatMap(({ tries, listed }, n) => {
        const first = Math.max(...tries.map(([ago]) => ago));
        return tries.map(([ago, code]) => attempt(`event-${n}`, ago, code, !listed || ago < first));
      }),
    );

  /** Attempts by event, with the times of the first and the last one. */
  const events = (of: readonly HookDelivery[]) =>
    [...Map.groupBy(of, ({ guid }) => guid)].map(([guid, tries]) => {
      const times = tries.map(({ deliveredAt }) => deliveredAt.getTime());
      return {
        guid,
        ids: tries.map(({ id }) => id),
        arrived: tries.some(({ statusCode }) => statusCode >= 200 && statusCode < 300),
        listed: tries.some(({ redelivery }) => !redelivery),
        tries: tries.length,
        first: Math.min(...times),
        last: Math.max(...times),
      };
    });

  test("redelivers exactly the missing, available, and due webhooks, each once", () => {
    fc.assert(
      fc.property(history, (deliveries) => {
        const { toRedeliver, missing, until } = backfillOf(deliveries, now);
        const left = events(deliveries).filter(
          ({ arrived, listed, first }) => !arrived && listed && first >= now - kept,
        );
        const late = left.filter(({ last }) => last <= now - grace);
        const due = late.filter(({ last, tries }) => last + pause(tries) <= now);
        const guidOf = new Map(deliveries.map(({ id, guid }) => [id, guid]));
        expect(toRedeliver.map((id) => guidOf.get(id)).sort()).toEqual(due.map(({ guid }) => guid).sort());
        expect(missing).toBe(late.length);
        expect(until).toBe(Math.min(now - grace, ...left.map(({ first }) => first)));
      }),
      { numRuns: 2000 },
    );
  });

  test("has the same result in any order", () => {
    fc.assert(
      fc.property(history, fc.infiniteStream(fc.double({ noNaN: true })), (deliveries, chance) => {
        const guidOf = new Map(deliveries.map(({ id, guid }) => [id, guid]));
        const seen = (of: readonly HookDelivery[]) => {
          const { toRedeliver, ...rest } = backfillOf(of, now);
          return { ...rest, toRedeliver: toRedeliver.map((id) => guidOf.get(id)).sort() };
        };
        const shuffled = deliveries
          .map((one) => [chance.next().value as number, one] as const)
          .sort(([a], [b]) => a - b)
          .map(([, one]) => one);
        expect(seen(shuffled)).toEqual(seen(deliveries));
      }),
    );
  });
});

describe("over several days", () => {
  /** A simulated GitHub with failed webhooks that answers attempts with `answers`, and is checked repeatedly. */
  function lookAt(
    failed: readonly HookDelivery[],
    answers: (at: number, guid: string) => number,
    rounds: readonly number[],
  ) {
    const history = [...failed];
    const asks = new Map<string, number[]>();
    let checkedUntil = 0;
    let most = 0;
    for (const at of rounds) {
      const since = Math.max(checkedUntil, at - kept);
      const listed = history.filter(
        ({ deliveredAt }) => deliveredAt.getTime() >= since && deliveredAt.getTime() <= at,
      );
      const { toRedeliver, until } = backfillOf(listed, at);
      expect(until).toBeLessThanOrEqual(at - grace);
      checkedUntil = until;
      most = Math.max(most, toRedeliver.length);
      for (const id of toRedeliver) {
        const guid = history.find((one) => one.id === id)?.guid ?? "";
        asks.set(guid, [...(asks.get(guid) ?? []), at]);
        history.push({ ...attempt(guid, 0, answers(at, guid), true), deliveredAt: new Date(at) });
      }
    }
    return { asks, most, history };
  }
  const everyFiveMinutes = (forMillis: number) =>
    Array.from({ length: forMillis / minutes(5) }, (_, n) => now + minutes(5) * (n + 1));

  test("requests a webhook that never arrives at growing intervals for three days", () => {
    const { asks } = lookAt([attempt("a", 0)], () => 502, everyFiveMinutes(days(5)));
    const times = asks.get("a") ?? [];
    const gaps = times.slice(1).map((at, n) => at - (times[n] ?? 0));
    expect(gaps.slice(0, 8)).toEqual([5, 10, 20, 40, 80, 160, 320, 360].map(minutes));
    expect(new Set(gaps.slice(8))).toEqual(new Set([hours(6)]));
    expect(times[0]).toBe(now + minutes(5));
    expect(times.at(-1)).toBeLessThanOrEqual(now + kept);
    expect(times.at(-1)).toBeGreaterThan(now + kept - hours(6));
  });

  test("requests more webhooks than the limit in turn", () => {
    const failed = Array.from({ length: 250 }, (_, n) => attempt(`event-${n}`, seconds(n)));
    const { asks, most } = lookAt(failed, () => 202, everyFiveMinutes(hours(1)));
    expect(most).toBe(atOnce);
    expect(asks.size).toBe(failed.length);
    expect([...asks.values()].every((times) => times.length === 1)).toBe(true);
  });

  test("requests no webhook that has arrived, and all arrive once the gateway is back", () => {
    const failures = fc.array(fc.integer({ min: 0, max: hours(40) }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(failures, fc.integer({ min: 0, max: hours(20) }), (ago, back) => {
        const failed = ago.map((one, n) => attempt(`event-${n}`, one));
        const answers = (at: number) => (at < now + back ? 503 : 202);
        const { asks, history } = lookAt(failed, answers, everyFiveMinutes(hours(28)));
        for (const { guid } of failed) {
          const answered = history.filter((one) => one.guid === guid).map(({ statusCode }) => statusCode);
          expect(answered.filter((code) => code === 202)).toHaveLength(1);
          expect(answered.at(-1)).toBe(202);
          expect(asks.get(guid)?.at(-1)).toBeGreaterThanOrEqual(now + back);
        }
      }),
      { numRuns: 30 },
    );
  });
});

describe("backfill", () => {
  /** A simulated GitHub with these attempts, and its requests. */
  function github(listed: readonly HookDelivery[], redeliver: (id: string) => void = () => undefined) {
    const since: Date[] = [];
    const toRedeliver: string[] = [];
    const client = {
      async *deliveries(options: { since: Date }) {
        since.push(options.since);
        yield* listed;
      },
      async redeliver(id: string) {
        redeliver(id);
        toRedeliver.push(id);
      },
    } as Partial<GitHubAppClient> as GitHubAppClient;
    const check = (checkedUntil?: number, assertOwned: () => void = () => undefined) =>
      backfill(client, { checkedUntil, now: Date.now(), signal: new AbortController().signal, assertOwned });
    return { since, toRedeliver, check };
  }
  const failed = (guid: string, ago: number, redelivery = false) => ({
    ...attempt(guid, 0, 502, redelivery),
    deliveredAt: new Date(Date.now() - ago),
  });

  test("redelivers the newest attempt of failed webhooks", async () => {
    const history = [
      failed("a", hours(2), true),
      failed("b", hours(1)),
      failed("a", hours(1), true),
      failed("a", hours(3)),
    ];
    const { toRedeliver, check } = github(history);
    const found = await check();
    expect(toRedeliver.sort()).toEqual([history[1]?.id, history[2]?.id].sort());
    expect(found).toMatchObject({ missing: 2, until: history[3]?.deliveredAt.getTime() });
  });

  test("lists from the last checked time, at most three days ago", async () => {
    const { since, check } = github([]);
    const until = Date.now() - hours(5);
    await check(until);
    expect(since[0]?.getTime()).toBe(until);
    for (const checkedUntil of [undefined, 0, Date.now() - days(9)]) {
      const before = Date.now();
      await check(checkedUntil);
      expect(since.at(-1)?.getTime()).toBeGreaterThanOrEqual(before - kept);
      expect(since.at(-1)?.getTime()).toBeLessThanOrEqual(Date.now() - kept);
    }
  });

  test("requests nothing after it lost ownership of the App", async () => {
    const { toRedeliver, check } = github([
      failed("a", hours(1)),
      failed("b", hours(1)),
      failed("c", hours(1)),
    ]);
    let asked = 0;
    const lost = new Error("no longer the owner");
    await expect(
      check(undefined, () => {
        if (asked++ === 1) throw lost;
      }),
    ).rejects.toBe(lost);
    expect(toRedeliver).toHaveLength(1);
  });

  test("continues after a webhook that GitHub refuses to redeliver, and reports it", async () => {
    const history = ["a", "b", "c"].map((guid) => failed(guid, hours(1)));
    const gone = new GitHubRefusedError("expected that it can be delivered again, found none", 404);
    const { toRedeliver, check } = github(history, (id) => {
      if (id === history[0]?.id) throw gone;
    });
    await expect(check()).rejects.toBe(gone);
    expect(toRedeliver).toEqual([history[1]?.id, history[2]?.id]);
  });

  test("stops when GitHub limits its requests", async () => {
    const limited = new GitHubRateLimitedError("too many", 429, minutes(1));
    let asked = 0;
    const { check } = github(
      ["a", "b"].map((guid) => failed(guid, hours(1))),
      () => {
        asked++;
        throw limited;
      },
    );
    await expect(check()).rejects.toBe(limited);
    expect(asked).toBe(1);
  });
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { PullRequest } from "../../../bus/github/pullrequest.ts";
import type { AppPipeline } from "../kinds/apppipeline.ts";
import { type Candidate, candidateIn, candidatesOf, endsOf, selected, toApprove } from "./select.ts";

type Filter = NonNullable<AppPipeline["spec"]["filter"]>;

const now = new Date("2026-01-02T03:04:05.678Z");
const later = (seconds: number) => new Date(now.getTime() + seconds * 1000);

const pull = (
  number: number,
  more: Partial<Pick<PullRequest, "labels" | "draft">> = {},
  at = {},
): PullRequest => ({
  number,
  state: "open",
  title: "",
  draft: false,
  labels: [],
  createdAt: now,
  updatedAt: now,
  mergeable: undefined,
  mergeCommitSha: null,
  authorAssociation: "NONE",
  author: "octocat",
  url: "https://github.com/acme/web/pull/1",
  ...more,
  head: { ref: "change", sha: "a1", repository: "acme/web", ...at },
  base: { ref: "main", sha: "b1", repository: "acme/web", repositoryId: 1 },
});
const fork = (sha: string) => pull(1, {}, { repository: "stranger/web", sha });
const none: Parameters<typeof candidatesOf>[3] = new Map();
const numbers = (pulls: readonly PullRequest[], filter: Filter) =>
  candidatesOf(pulls, { filter } as AppPipeline["spec"], [], none, now).map(({ number }) => number);
describe("the filter", () => {
  test("selects pull requests with all labels, ignoring case", () => {
    const pulls = [pull(1, { labels: ["Preview", "web"] }), pull(2, { labels: ["preview"] }), pull(3)];
    expect(numbers(pulls, { labels: ["preview", "WEB"] })).toEqual([1]);
    expect(numbers(pulls, { labels: [] })).toEqual([1, 2, 3]);
  });

  test("matches base branches by globs", () => {
    const into = (number: number, ref: string) => ({ ...pull(number), base: { ...pull(1).base, ref } });
    const pulls = [into(1, "main"), into(2, "release/1.2"), into(3, "release"), into(4, "other")];
    expect(numbers(pulls, { baseBranches: ["main", "release/*"] })).toEqual([1, 2]);
    expect(numbers(pulls, { baseBranches: [] })).toEqual([]);
  });

  test("includes drafts unless they are excluded", () => {
    const pulls = [pull(1, { draft: true }), pull(2)];
    expect([numbers(pulls, {}), numbers(pulls, { drafts: false })]).toEqual([[1, 2], [2]]);
  });

  test("excludes all forks with Never and none with Always, and never excludes the repository itself", () => {
    const own = pull(2, {}, { repository: "Acme/Web" });
    const gone = { ...pull(3), head: { ...pull(3).head, repository: undefined } };
    const pulls = [fork("a1"), own, gone];
    expect([numbers(pulls, { forks: "Never" }), numbers(pulls, { forks: "Always" })]).toEqual([
      [2],
      [1, 2, 3],
    ]);
    expect(candidatesOf(pulls, {} as AppPipeline["spec"], [], none, now).map((one) => one.fork)).toEqual([
      "stranger/web",
      undefined,
      "a deleted repository",
    ]);
  });
});

test("requires an approval of selected forks, unless all get a preview", () => {
  const pulls = [fork("a1"), pull(2), { ...fork("a1"), number: 3, draft: true }];
  const of = (filter: Filter) =>
    toApprove(pulls, { filter } as AppPipeline["spec"]).map(({ number }) => number);
  expect([of({}), of({ drafts: false }), of({ forks: "Always" }), of({ forks: "Never" })]).toEqual([
    [1, 3],
    [1],
    [],
    [],
  ]);
});

test("keeps approvals in the status", () => {
  const approval = {
    labeled: true,
    approvedSHA: "a1",
    approvedBy: "octocat",
    approvedWith: "label" as const,
    approvedAt: "2026-01-02T03:04:05Z",
  };
  const [found] = candidatesOf([fork("a2")], {} as AppPipeline["spec"], [], new Map([[1, approval]]), now);
  expect(found).toMatchObject({ number: 1, headSHA: "a2", fork: "stranger/web", ...approval });
  const preview = { ...(found as Candidate), phase: "Ready" as const, message: "m" };
  expect(candidateIn(preview)).toEqual(found);
});

test("describes pull requests with bounded text, which the status keeps until the next listing", () => {
  const opened = {
    ...pull(1),
    title: `\u202E${"long ".repeat(50)}`,
    author: "octocat[bot]",
    createdAt: later(-86_400),
    updatedAt: later(-60),
  };
  const [found] = candidatesOf([opened], {} as AppPipeline["spec"], [], none, now);
  const description = {
    title: `${"long ".repeat(24).slice(0, 119)}…`,
    author: "octocat[bot]",
    pullRequestURL: "https://github.com/acme/web/pull/1",
    openedAt: "2026-01-01T03:04:05Z",
    updatedAt: "2026-01-02T03:03:05Z",
  };
  expect(found).toMatchObject(description);
  expect(candidateIn({ ...(found as Candidate), phase: "Ready" })).toEqual(found);
  const ghost = { ...pull(1), author: undefined };
  expect(candidatesOf([ghost], {} as AppPipeline["spec"], [], none, now)[0]).not.toHaveProperty("author");
  // As an earlier version has written it.
  const old = { number: 1, headSHA: "a1", since: "2026-01-02T03:04:05Z" };
  expect(candidateIn({ ...old, phase: "Ready" })).toEqual(old);
});

describe("the time of the last commit", () => {
  test("is the time when it was first seen, in whole seconds", () => {
    const before = candidatesOf([pull(1)], {} as AppPipeline["spec"], [], none, now);
    expect(before[0]?.since).toBe("2026-01-02T03:04:05Z");
    expect(candidatesOf([pull(1)], {} as AppPipeline["spec"], before, none, later(60))[0]?.since).toBe(
      before[0]?.since,
    );
    const moved = candidatesOf(
      [pull(1, {}, { sha: "a2" })],
      {} as AppPipeline["spec"],
      before,
      none,
      later(60),
    );
    expect(moved[0]?.since).toBe("2026-01-02T03:05:05Z");
  });
});

const candidate = (number: number, more: Partial<Candidate> = {}): Candidate => ({
  number,
  headSHA: "a1",
  since: "2026-01-02T03:04:05Z",
  ...more,
});
const statesOf = (
  candidates: readonly Candidate[],
  spec: Partial<AppPipeline["spec"]>,
  shown: readonly number[] = [],
  at = now,
) =>
  selected(candidates, spec as AppPipeline["spec"], new Set(shown), at).map(
    ({ number, state }) => `${number} ${state}`,
  );

describe("selected", () => {
  test("excludes an unapproved fork, unless all forks get a preview", () => {
    const candidates = [
      candidate(1, { fork: "stranger/web" }),
      candidate(2, { fork: "s/w", approvedSHA: "a1" }),
    ];
    expect(statesOf(candidates, {})).toEqual(["1 NeedsApproval", "2 shown"]);
    expect(statesOf(candidates, { filter: { forks: "Always" } })).toEqual(["1 shown", "2 shown"]);
  });

  test("excludes numbers, whatever else is true of them, and gives their place to others", () => {
    const candidates = [candidate(1, { fork: "stranger/web" }), candidate(2), candidate(3)];
    const filter = { excluded: [1, 2, 99] };
    expect(statesOf(candidates, { filter, maxPreviews: 1 }, [2])).toEqual([
      "1 Excluded",
      "2 Excluded",
      "3 shown",
    ]);
    expect(statesOf(candidates, { filter: { excluded: [] }, maxPreviews: 1 }, [2])).toEqual([
      "1 NeedsApproval",
      "2 shown",
      "3 Waiting",
    ]);
    const spec = { filter, ttl: "1m" } as AppPipeline["spec"];
    expect(endsOf(selected(candidates.slice(0, 2), spec, new Set(), now), spec)).toEqual([]);
  });

  test("expires a preview exactly at its time", () => {
    const at = Date.parse("2026-01-02T03:05:05Z");
    expect(statesOf([candidate(1)], { ttl: "1m" }, [1], new Date(at - 1))).toEqual(["1 shown"]);
    expect(statesOf([candidate(1)], { ttl: "1m" }, [1], new Date(at))).toEqual(["1 Expired"]);
    expect(
      endsOf(selected([candidate(1)], { ttl: "1m" } as AppPipeline["spec"], new Set(), now), { ttl: "1m" }),
    ).toEqual([at]);
  });

  test("keeps shown previews when there are too many, and admits the oldest of the others", () => {
    const all = [1, 2, 3, 4].map((number) => candidate(number));
    expect(statesOf(all, { maxPreviews: 2 }, [3])).toEqual(["1 shown", "2 Waiting", "3 shown", "4 Waiting"]);
    expect(statesOf(all.slice(1), { maxPreviews: 2 }, [3])).toEqual(["2 shown", "3 shown", "4 Waiting"]);
    expect(statesOf(all, { maxPreviews: 0 }, [3])).toEqual([1, 2, 3, 4].map((number) => `${number} Waiting`));
  });

  test("never exceeds the maximum, loses none, and never replaces a shown preview", () => {
    const one = fc.record({
      number: fc.integer({ min: 1, max: 30 }),
      shown: fc.boolean(),
      stranger: fc.boolean(),
    });
    const some = fc.uniqueArray(one, { selector: ({ number }) => number });
    fc.assert(
      fc.property(some, fc.nat(20), (all, maxPreviews) => {
        const candidates = all.map(({ number, stranger }) =>
          candidate(number, stranger ? { fork: "s/w" } : {}),
        );
        const shown = new Set(all.filter((each) => each.shown).map(({ number }) => number));
        const outcome = selected(candidates, { maxPreviews } as AppPipeline["spec"], shown, now);
        expect(outcome.map(({ number }) => number)).toEqual(
          all.map(({ number }) => number).sort((a, b) => a - b),
        );
        const at = (state: string) => outcome.filter((each) => each.state === state);
        expect(at("shown").length).toBeLessThanOrEqual(maxPreviews);
        if (at("Waiting").some(({ number }) => shown.has(number)))
          expect(at("shown").every(({ number }) => shown.has(number))).toBe(true);
        if (at("Waiting").length > 0) expect(at("shown")).toHaveLength(maxPreviews);
      }),
    );
  });
});

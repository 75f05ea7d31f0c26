import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { TimelineEvent } from "../../../bus/github/timeline.ts";
import { type Approval, approvalOf, type Before } from "./approval.ts";

const label = "preview-approved";
const second = (count: number): Date => new Date(Date.parse("2026-01-02T03:04:00Z") + count * 1000);

/** A simulated pull request of a fork. Each step takes a second of GitHub's clock. */
function simulated() {
  let [clock, head, labeled, updatedAt] = [0, "a1", false, second(0)];
  const timeline: TimelineEvent[] = [];
  const step = (event?: (at: Date) => TimelineEvent) => {
    updatedAt = second(++clock);
    if (event) timeline.push(event(updatedAt));
  };
  return {
    get head() {
      return head;
    },
    push(sha: string, how: "forward" | "forced" = "forward") {
      head = sha;
      step(how === "forced" ? (at) => ({ type: "force-pushed", at }) : undefined);
    },
    label(by: string | null = "owner") {
      labeled = true;
      step((at) => ({ type: "labeled", label: "Preview-Approved", by: by ?? undefined, at }));
    },
    unlabel() {
      labeled = false;
      step((at) => ({ type: "unlabeled", label: "Preview-Approved", by: "owner", at }));
    },
    review(
      commit: string,
      by = "owner",
      state: "approved" | "changes_requested" | "dismissed" | "commented" = "approved",
    ) {
      step(() => ({ type: "reviewed", state, commit, by }));
    },
    /** The current listing. A lagging replica of GitHub may return an earlier one later. */
    listing: () => ({ labels: labeled ? ["Preview-Approved"] : [], updatedAt, headSHA: head }),
    timeline: () => [...timeline],
  };
}
type GitHub = ReturnType<typeof simulated>;

/** Runs the pipeline's decision with its earlier one. */
async function decided(
  github: GitHub,
  last?: Before,
  { labels, updatedAt, headSHA } = github.listing(),
): Promise<Before> {
  const pull = { labels, updatedAt, head: { ref: "change", sha: headSHA, repository: "stranger/web" } };
  const mayWrite = async (login: string) => ["owner", "maintainer"].includes(login);
  const approval: Approval = await approvalOf({ pull, label, last, timeline: github.timeline(), mayWrite });
  return { headSHA, ...approval };
}

describe("the label", () => {
  test("approves the last commit, and no later one", async () => {
    const github = simulated();
    const seen = await decided(github);
    expect(seen.approvedSHA).toBeUndefined();
    github.label();
    const approved = await decided(github, seen);
    expect(approved).toMatchObject({ approvedSHA: "a1", approvedBy: "owner", approvedWith: "label" });
    github.push("a2");
    expect(await decided(github, approved)).toMatchObject({ headSHA: "a2", approvedSHA: "a1" });
  });

  test("approves nothing if a commit is pushed before it is processed", async () => {
    const github = simulated();
    const seen = await decided(github);
    github.label();
    github.push("a2");
    const found = await decided(github, seen);
    expect(found.approvedSHA).toBeUndefined();
    expect(found.approvalProblem).toContain("an earlier commit");
    expect((await decided(github, found)).approvedSHA).toBeUndefined();
    github.unlabel();
    github.label();
    expect((await decided(github, found)).approvedSHA).toBe("a2");
  });

  test("approves nothing if the branch was moved to another commit and back", async () => {
    const github = simulated();
    github.push("bad");
    const seen = await decided(github);
    github.push("a1", "forced");
    github.label();
    github.push("bad");
    expect((await decided(github, seen)).approvedSHA).toBeUndefined();
  });

  test("approves nothing if the listing is older than the label", async () => {
    const github = simulated();
    const stale = github.listing();
    const seen = await decided(github, undefined, stale);
    github.push("a2");
    github.label();
    const found = await decided(github, seen, { ...stale, labels: [label] });
    expect(found.approvedSHA).toBeUndefined();
  });

  test.each(["stranger", null])("approves nothing if %j added it, who may not write", async (by) => {
    const github = simulated();
    const seen = await decided(github);
    github.label(by);
    const { approvedSHA, approvalProblem } = await decided(github, seen);
    expect(approvedSHA).toBeUndefined();
    expect(approvalProblem).toContain(by ?? "a deleted account");
  });

  test("approves nothing on a new pull request until it is added again", async () => {
    const github = simulated();
    github.label();
    const seen = await decided(github);
    expect(seen.approvedSHA).toBeUndefined();
    github.unlabel();
    github.label();
    expect((await decided(github, seen)).approvedSHA).toBe("a1");
  });

  test("withdraws its approval when it is removed", async () => {
    const github = simulated();
    const seen = await decided(github);
    github.label();
    const approved = await decided(github, seen);
    github.unlabel();
    expect((await decided(github, approved)).approvedSHA).toBeUndefined();
  });

  test.each(["stranger", null, "maintainer", "owner"])(
    "withdraws its approval when %j removes it and adds it to another commit before the next listing",
    async (by) => {
      const github = simulated();
      const seen = await decided(github);
      github.label();
      const approved = await decided(github, seen);
      github.unlabel();
      github.push("a2");
      github.label(by);
      expect((await decided(github, approved)).approvedSHA).toBeUndefined();
    },
  );

  test("keeps its approval while the timeline lags behind", async () => {
    const github = simulated();
    const seen = await decided(github);
    github.label("maintainer");
    github.unlabel();
    const lagging = github.timeline();
    github.label();
    const approved = await decided(github, seen);
    const timeline = () => lagging;
    expect((await decided({ ...github, timeline }, approved)).approvedSHA).toBe("a1");
  });

  test("keeps approvals from before times were recorded", async () => {
    const github = simulated();
    github.label();
    const last = { headSHA: "a1", labeled: true, approvedSHA: "a1", approvedBy: "owner" };
    expect(await decided(github, last)).toMatchObject({ approvedSHA: "a1" });
    github.unlabel();
    github.label("stranger");
    expect((await decided(github, last)).approvedSHA).toBeUndefined();
  });

  test("approves only the last commit at the time when a writer added it, for any events in between", async () => {
    const steps = fc.constantFrom("push", "force", "back", "label", "label by a stranger", "unlabel", "list");
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { minLength: 1, maxLength: 16 }), async (all) => {
        const github = simulated();
        const heads = ["a1"];
        let [last, labeled]: [Before | undefined, boolean] = [undefined, false];
        let allowed: string | undefined;
        for (const step of all) {
          if (step === "push" || step === "force") {
            heads.push(`a${heads.length + 1}`);
            github.push(heads.at(-1) as string, step === "force" ? "forced" : "forward");
          } else if (step === "back") github.push(heads[0] as string, "forced");
          else if (step.startsWith("label") && !labeled) {
            labeled = true;
            github.label(step === "label" ? "owner" : "stranger");
            if (step === "label") allowed = github.head;
          } else if (step === "unlabel" && labeled) {
            labeled = false;
            github.unlabel();
            allowed = undefined;
          } else {
            last = await decided(github, last);
            expect([undefined, allowed]).toContain(last.approvedSHA);
          }
        }
      }),
    );
  });
});

describe("an approving review", () => {
  test("approves the commit that the reviewer saw", async () => {
    const github = simulated();
    github.push("a2");
    github.review("a1");
    expect((await decided(github)).approvedSHA).toBeUndefined();
    github.review("a2");
    const approved = await decided(github);
    expect(approved).toMatchObject({ approvedSHA: "a2", approvedBy: "owner", approvedWith: "review" });
    github.push("a3");
    expect(await decided(github, approved)).toMatchObject({ headSHA: "a3", approvedSHA: "a2" });
  });

  test("counts only from users who may write to the repository", async () => {
    const github = simulated();
    github.review("a1", "stranger");
    expect((await decided(github)).approvedSHA).toBeUndefined();
    github.review("a1", "maintainer");
    expect((await decided(github)).approvedBy).toBe("maintainer");
  });

  test.each(["changes_requested", "dismissed"] as const)("no longer counts when it is %s", async (state) => {
    const github = simulated();
    github.review("a1");
    github.review("a1", "owner", "commented");
    const approved = await decided(github);
    expect(approved.approvedSHA).toBe("a1");
    github.review("a1", "owner", state);
    expect((await decided(github, approved)).approvedSHA).toBeUndefined();
  });
});

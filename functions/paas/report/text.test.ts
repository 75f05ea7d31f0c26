import fc from "fast-check";
import { expect, test } from "vitest";
import type { AppPipeline, Preview } from "../kinds/apppipeline.ts";
import { phases } from "../kinds/apppipeline.ts";
import {
  closingComment,
  commentOf,
  commitStateOf,
  deploymentStatusOf,
  endedState,
  reportedSHA,
} from "./text.ts";

const pipeline = {
  metadata: { namespace: "team-a", name: "web", uid: "u1" },
  spec: { filter: {} },
} as unknown as AppPipeline;
const context = "denrei/prod/team-a/web";
const preview = (phase: Preview["phase"], more: Partial<Preview> = {}): Preview => ({
  number: 7,
  headSHA: "a".repeat(40),
  since: "2026-01-02T03:04:05Z",
  url: "https://pr-7.example.com",
  phase,
  ...more,
});

test.each([
  ["Waiting", "pending", undefined],
  ["NeedsApproval", "pending", undefined],
  ["Resolving", "pending", "in_progress"],
  ["Building", "pending", "in_progress"],
  ["Deploying", "pending", "in_progress"],
  ["Ready", "success", "success"],
  ["Failed", "failure", "failure"],
  ["Expired", undefined, undefined],
  ["Excluded", undefined, undefined],
] as const)("maps %s to the commit status %s and the deployment status %s", (phase, status, deployment) => {
  expect(commitStateOf(preview(phase))?.state).toBe(status);
  expect(deploymentStatusOf(preview(phase))?.state).toBe(deployment);
});

test("links a commit status to a ready preview, and explains a failed one", () => {
  expect(commitStateOf(preview("Ready"))).toMatchObject({
    targetUrl: "https://pr-7.example.com",
  });
  expect(commitStateOf(preview("Building"))).not.toHaveProperty("targetUrl");
  const failed = commitStateOf(preview("Failed", { message: "the step build failed" }));
  expect(failed?.description).toBe("There is no preview of this commit: the step build failed");
});

test("reports a resolving commit like a building one", () => {
  const [resolving, building] = [preview("Resolving"), preview("Building")];
  expect(commitStateOf(resolving)).toEqual(commitStateOf(building));
  expect(commentOf(pipeline, context, resolving)).toBe(commentOf(pipeline, context, building));
});

test("ends a superseded or deleted preview's status as a success with an explanation", () => {
  expect(endedState("gone")).toMatchObject({ state: "success" });
  expect(endedState("superseded").description).toContain("later commit");
});

test("reports the approved commit of a fork, else the last one", () => {
  expect(reportedSHA(preview("Ready"))).toBe("a".repeat(40));
  expect(reportedSHA(preview("Ready", { approvedSHA: "b".repeat(40) }))).toBe("b".repeat(40));
});

test("writes a comment with commit, state and, when it is ready, the URL", () => {
  const comment = commentOf(pipeline, context, preview("Ready"));
  expect(comment).toContain("`aaaaaaaaaaaa`");
  expect(comment).toContain("| State | Ready |");
  expect(comment).toContain("| URL | https://pr-7.example.com |");
  expect(commentOf(pipeline, context, preview("Building"))).not.toContain("https://pr-7.example.com");
});

test("quotes a warning in the comment, and leaves the commit status alone", () => {
  const ready = preview("Ready");
  const warned = preview("Ready", { warning: "build 2 failed: ghs_0123456789 @octocat" });
  expect(commitStateOf(warned)).toEqual(commitStateOf(ready));
  expect(deploymentStatusOf(warned)).toEqual(deploymentStatusOf(ready));
  const comment = commentOf(pipeline, context, warned);
  expect(comment).toContain("| State | Ready |");
  const [, quoted = "", after = ""] = comment.split("```");
  expect(quoted).toContain("build 2 failed");
  expect(comment).not.toContain("ghs_");
  expect(after).not.toContain("@octocat");
  expect(commentOf(pipeline, context, ready)).not.toContain("attention");
});

test("begins every comment with its marker", () => {
  const comments = [
    ...phases.map((phase) => commentOf(pipeline, context, preview(phase))),
    closingComment(pipeline, context, 7),
  ];
  for (const comment of comments) expect(comment).toMatch(/^<!-- denrei\/prod\/team-a\/web\/pr-7 -->\n/);
});

test("explains how to approve a waiting commit, also a later one", () => {
  const named = { ...pipeline, spec: { filter: { approvalLabel: "ok to show" } } } as AppPipeline;
  expect(commentOf(named, context, preview("NeedsApproval"))).toContain("`ok to show`");
  expect(commentOf(pipeline, context, preview("NeedsApproval"))).toContain("`preview-approved`");
  expect(commentOf(pipeline, context, preview("Ready", { approvedSHA: "b".repeat(40) }))).toContain(
    "`preview-approved`",
  );
  expect(commentOf(pipeline, context, preview("Ready"))).not.toContain("preview-approved");
});

test("keeps a message in its block, without mentions and formatting", () => {
  const message = fc.string({ unit: fc.constantFrom("`", "```", "@octocat", "\n", "# h", "<!--", "x") });
  fc.assert(
    fc.property(message, (text) => {
      const comment = commentOf(pipeline, context, preview("Failed", { message: text }));
      const [before = "", block, after, ...more] = comment.split("```");
      expect(more).toEqual([]);
      expect(block?.startsWith("\n") && block.endsWith("\n")).toBe(true);
      expect(`${before}${after}`).not.toMatch(/@octocat|# h/);
    }),
  );
});

test("redacts tokens in a message, and limits its length", () => {
  const message = `fatal: https://x:ghs_${"a".repeat(40)}@github.com ${"long ".repeat(5000)}`;
  const comment = commentOf(pipeline, context, preview("Failed", { message }));
  expect(comment).not.toContain("ghs_");
  expect(comment.length).toBeLessThan(3000);
});

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
] as const)("%s is the commit status %s and the deployment status %s", (phase, status, deployment) => {
  expect(commitStateOf(preview(phase))?.state).toBe(status);
  expect(deploymentStatusOf(preview(phase))?.state).toBe(deployment);
});

test("a commit status leads to the preview when it is ready, and says why it is not", () => {
  expect(commitStateOf(preview("Ready"))).toMatchObject({
    targetUrl: "https://pr-7.example.com",
  });
  expect(commitStateOf(preview("Building"))).not.toHaveProperty("targetUrl");
  const failed = commitStateOf(preview("Failed", { message: "the step build failed" }));
  expect(failed?.description).toBe("There is no preview of this commit: the step build failed");
});

test("that a commit is about to be built is not another status than that it is being built", () => {
  const [resolving, building] = [preview("Resolving"), preview("Building")];
  expect(commitStateOf(resolving)).toEqual(commitStateOf(building));
  expect(commentOf(pipeline, context, resolving)).toBe(commentOf(pipeline, context, building));
});

test("a status that ends because nothing more comes is no failure, and says what came in between", () => {
  expect(endedState("gone")).toMatchObject({ state: "success" });
  expect(endedState("superseded").description).toContain("later commit");
});

test("reports are about the approved commit of a fork, else about the last one", () => {
  expect(reportedSHA(preview("Ready"))).toBe("a".repeat(40));
  expect(reportedSHA(preview("Ready", { approvedSHA: "b".repeat(40) }))).toBe("b".repeat(40));
});

test("the comment says commit, state and, when it is ready, the address", () => {
  const comment = commentOf(pipeline, context, preview("Ready"));
  expect(comment).toContain("`aaaaaaaaaaaa`");
  expect(comment).toContain("| State | Ready |");
  expect(comment).toContain("| URL | https://pr-7.example.com |");
  expect(commentOf(pipeline, context, preview("Building"))).not.toContain("https://pr-7.example.com");
});

test("a warning stands in the comment as quoted text, and changes no status of the commit", () => {
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

test("every comment begins with the marker that it is found by", () => {
  const comments = [
    ...phases.map((phase) => commentOf(pipeline, context, preview(phase))),
    closingComment(pipeline, context, 7),
  ];
  for (const comment of comments) expect(comment).toMatch(/^<!-- denrei\/prod\/team-a\/web\/pr-7 -->\n/);
});

test("who waits for approval is told which label gives it, also when only a later commit waits", () => {
  const named = { ...pipeline, spec: { filter: { approvalLabel: "ok to show" } } } as AppPipeline;
  expect(commentOf(named, context, preview("NeedsApproval"))).toContain("`ok to show`");
  expect(commentOf(pipeline, context, preview("NeedsApproval"))).toContain("`preview-approved`");
  expect(commentOf(pipeline, context, preview("Ready", { approvedSHA: "b".repeat(40) }))).toContain(
    "`preview-approved`",
  );
  expect(commentOf(pipeline, context, preview("Ready"))).not.toContain("preview-approved");
});

test("a message can not leave its block: nobody is mentioned, nothing is formatted", () => {
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

test("a message tells no token, and not more than anybody reads", () => {
  const message = `fatal: https://x:ghs_${"a".repeat(40)}@github.com ${"long ".repeat(5000)}`;
  const comment = commentOf(pipeline, context, preview("Failed", { message }));
  expect(comment).not.toContain("ghs_");
  expect(comment.length).toBeLessThan(3000);
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { repositoryText } from "../identity.ts";
import type { RemoteSync } from "../kinds/remotesync.ts";
import {
  deprecatedIn,
  indexed,
  pushedBranch,
  pushedTag,
  sourceOf,
  sourcesOf,
  sourcesOfPush,
  sourceText,
} from "./source.ts";

type GitHub = RemoteSync["spec"]["base"]["github"];

const sync = (
  github: Partial<GitHub>,
  { baseBranch, ...spec }: Partial<RemoteSync["spec"]> & { baseBranch?: string } = {},
): RemoteSync => ({
  apiVersion: "modoki.tsuzu.dev/v1alpha1",
  kind: "RemoteSync",
  metadata: { namespace: "default", name: "web" },
  spec: {
    applicationRef: { name: "web" },
    base: { github: { owner: "acme", repo: "web", secretName: "token", ...github } },
    image: { name: "registry.example.com/acme/web" },
    ...spec,
  },
  ...(baseBranch !== undefined && { status: { baseBranch } }),
});

const sha = "a".repeat(40);

test.each<[Partial<GitHub>, ReturnType<typeof sourceOf>]>([
  [{ sha }, { type: "commit", sha }],
  [{ sha: sha.toUpperCase() }, { type: "commit", sha }],
  [{ sha: "abc1234" }, { type: "ref", name: "abc1234" }],
  [{ sha: "v1.2.0" }, { type: "ref", name: "v1.2.0" }],
  // As in modoki-operator: the commit takes precedence over the pull request, and that over the branch.
  [
    { sha, pullRequest: 7, branch: "next" },
    { type: "commit", sha },
  ],
  [
    { pullRequest: 7, branch: "next" },
    { type: "pull request", number: 7, revision: "Merge" },
  ],
  [
    { pullRequest: 0, branch: "next" },
    { type: "branch", name: "next" },
  ],
  [{ pullRequest: 7 }, { type: "pull request", number: 7, revision: "Merge" }],
  [{ branch: "next" }, { type: "branch", name: "next" }],
  [
    { sha: "", branch: "" },
    { type: "branch", name: undefined },
  ],
  [{}, { type: "branch", name: undefined }],
])("resolves %j to the source %j", (github, source) => {
  expect(sourceOf(sync(github))).toEqual(source);
});

test("has no index keys for a commit", () => {
  expect(sourcesOf(sync({ sha }))).toEqual([]);
});

test("finds a tag or a branch in place of a commit by pushes to it", () => {
  expect(sourcesOf(sync({ sha: "v1" }))).toEqual([indexed.ref("acme/web", "v1")]);
  expect(pushedTag("refs/tags/v1")).toBe("v1");
  expect(pushedTag("refs/heads/v1")).toBeUndefined();
  expect(sourcesOfPush("acme/web", "main", "main")).toContain(indexed.ref("acme/web", "main"));
});

test.each<[Partial<GitHub>, string | undefined]>([
  [{ sha }, undefined],
  [{ branch: "next" }, undefined],
  [{ sha: "", branch: "next", pullRequest: 0 }, undefined],
  [
    { pullRequest: 7, branch: "next" },
    "spec.base.github sets pullRequest, branch: only pullRequest takes effect, remove branch",
  ],
  [
    { sha: "v1", pullRequest: 7, branch: "next" },
    "spec.base.github sets sha, pullRequest, branch: only sha takes effect, remove pullRequest and branch; spec.base.github.sha is v1, which is not a full commit id: set the full commit id, or use branch",
  ],
])("reports %j as deprecated: %s", (github, text) => {
  expect(deprecatedIn(sync(github))).toBe(text);
});

test("finds a merge by its pull request and, once that is known, by its target branch", () => {
  expect(sourcesOf(sync({ pullRequest: 7 }))).toEqual(["acme/web#7"]);
  expect(sourcesOf(sync({ pullRequest: 7 }, { baseBranch: "main" }))).toEqual([
    "acme/web#7",
    "acme/web^main",
  ]);
  expect(sourcesOf(sync({ pullRequest: 7 }, { baseBranch: "main", revision: "Head" }))).toEqual([
    "acme/web#7",
  ]);
});

test.each([
  ["refs/heads/main", "main"],
  ["refs/heads/feature/a/b", "feature/a/b"],
  ["refs/heads/refs/heads/x", "refs/heads/x"],
  ["refs/tags/v1", undefined],
  ["refs/heads/", undefined],
])("parses the push to %s as the branch %s", (ref, branch) => {
  expect(pushedBranch(ref)).toBe(branch);
});

const name = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9-]{0,8}$/);
/** Short enough that two are often equal. */
const branch = fc.oneof(
  fc.constantFrom("main", "next", "Main", "a/b"),
  fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9/._@^#-]{0,12}$/),
);

test("finds exactly the followers of a pushed branch, in any case of the repository name", () => {
  fc.assert(
    fc.property(name, name, branch, branch, branch, (owner, repo, pushed, followed, main) => {
      const repository = repositoryText(owner.toUpperCase(), repo.toLowerCase());
      const sources = new Set(sourcesOfPush(repository, pushed, main));
      const finds = (github: Partial<GitHub>, more?: Parameters<typeof sync>[1]) =>
        sourcesOf(sync({ owner: owner.toLowerCase(), repo: repo.toUpperCase(), ...github }, more)).some(
          (source) => sources.has(source),
        );
      expect(finds({ branch: followed })).toBe(followed === pushed);
      expect(finds({})).toBe(pushed === main);
      expect(finds({ pullRequest: 1 }, { baseBranch: followed })).toBe(followed === pushed);
      expect(finds({ pullRequest: 1 }, { baseBranch: followed, revision: "Head" })).toBe(false);
      expect(finds({ repo: `${repo}x`, branch: pushed })).toBe(false);
    }),
  );
});

test("never confuses the keys of branches, pull requests, and base branches", () => {
  fc.assert(
    fc.property(branch, branch, fc.integer({ min: 1 }), (one, other, number) => {
      const all = [
        indexed.branch("acme/web", one),
        indexed.base("acme/web", other),
        indexed.pullRequest("acme/web", number),
        indexed.branch("acme/web"),
      ];
      expect(new Set(all).size).toBe(all.length);
    }),
  );
});

test("identifies the source of a resolved revision", () => {
  const all = [
    sync({}),
    sync({ branch: "main" }),
    sync({ sha }),
    sync({ pullRequest: 7 }),
    sync({ pullRequest: 7 }, { revision: "Head" }),
    sync({ pullRequest: 8 }),
    sync({ repo: "api" }),
  ].map(sourceText);
  expect(new Set(all).size).toBe(all.length);
  expect(sourceText(sync({ owner: "Acme" }))).toBe(sourceText(sync({})));
});

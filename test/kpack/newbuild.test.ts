import { expect, test } from "vitest";
import type { BuildInputs } from "../../deploy/simulators/kpack/changes.ts";
import type { ImageSpec } from "../../deploy/simulators/kpack/kinds.ts";
import { newBuild, tagsOf } from "../../deploy/simulators/kpack/newbuild.ts";
import { fullSha } from "../../deploy/simulators/kpack/sourceresolver.ts";

const git = { url: "https://git.example/acme/web", revision: "1".repeat(40) };
const spec: ImageSpec = {
  tag: "registry.example/apps/web",
  serviceAccountName: "app-builder",
  builder: { kind: "ClusterBuilder", name: "default" },
  source: { git },
};

test("keeps the complete Image name in the label, also when the Build's name is cut", () => {
  const name = "a".repeat(58);
  const image = { metadata: { name, uid: "uid" }, spec };
  const made = { image, sourceResolver: { spec }, builder: { metadata: { name: "default" } } };
  const { metadata } = newBuild(made as unknown as BuildInputs, 1, []);
  expect(metadata.name).toBe("aaaaaaaaaaaaaaaaaaaaaaadc2f2f2462a0d72358b2f99389458606-build-1");
  expect(metadata.labels?.["image.kpack.io/image"]).toBe(name);
});

test.each([
  ["BuildNumber", "repo:633263b", ["index.docker.io/library/repo:633263b-b1.20260102.030405"]],
  ["BuildNumber", "repo:latest", ["index.docker.io/library/repo:b1.20260102.030405"]],
  ["None", "repo:633263b", []],
])("with the strategy %s and the tag %s, tags are as recorded", (imageTaggingStrategy, tag, more) => {
  const now = new Date("2026-01-02T03:04:05.678Z");
  expect(tagsOf({ spec: { ...spec, tag, imageTaggingStrategy } }, 1, now)).toEqual([tag, ...more]);
});

test("recognizes only a full SHA, not a branch, pull request reference, or short SHA", () => {
  expect(["main", "pull/7/merge", "633263b", git.revision].filter((one) => fullSha.test(one))).toEqual([
    git.revision,
  ]);
});

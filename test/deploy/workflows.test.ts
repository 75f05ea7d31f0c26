/** GitHub Actions workflows run the same commands as people, with pinned actions and read-only permissions. */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { goProgram } from "./gotool.ts";
import { root } from "./manifests.ts";
import { folder, readWorkflows, type Step, type Workflow } from "./workflows.ts";

/** Permissions of the workflows that may write. Those of release.yaml differ by job (releaseworkflow.test.ts). */
const writing: Readonly<Record<string, object>> = {
  "images.yaml": { contents: "read", issues: "write" },
  "labels.yaml": { contents: "read", "pull-requests": "write" },
};

let texts: ReadonlyMap<string, string>;
let workflows: ReadonlyMap<string, Workflow>;
beforeAll(async () => {
  ({ texts, workflows } = await readWorkflows());
});

const stepsOf = (name: string): Step[] =>
  Object.values(workflows.get(name)?.jobs ?? {}).flatMap(({ steps }) => steps);
const commandsOf = (name: string): string[] => stepsOf(name).flatMap(({ run }) => run ?? []);

describe("every workflow", () => {
  test("passes actionlint: fields, expressions, and shell", async () => {
    const actionlint = await goProgram(
      { folder: "actionlint", module: "github.com/rhysd/actionlint" },
      "cmd/actionlint",
    );
    const paths = [...texts.keys()].map((name) => join(folder, name));
    expect(paths.length).toBeGreaterThan(0);
    // Without this, actionlint would also run whichever shellcheck or pyflakes the machine has.
    const lint = (files: readonly string[]) =>
      promisify(execFile)(actionlint, ["-no-color", "-shellcheck=", "-pyflakes=", ...files], { cwd: root });
    expect((await lint(paths)).stdout).toBe("");
    const wrong = join(await mkdtemp(join(tmpdir(), "test-workflows-")), "wrong.yaml");
    onTestFinished(() => rm(dirname(wrong), { recursive: true }));
    await writeFile(wrong, texts.get("ci.yaml")?.replace("github.ref", "github.reff") ?? "");
    await expect(lint([wrong])).rejects.toMatchObject({
      stdout: expect.stringContaining('"reff" is not defined'),
    });
    // actionlint may have to be built first.
  }, 900_000);

  test("uses actions by commit, with their version in a comment", () => {
    for (const text of texts.values()) {
      const uses = text.split("\n").filter((line) => line.includes("uses:"));
      expect(
        uses.filter((line) => !/uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line)),
      ).toEqual([]);
    }
    const versions = new Map<string, Set<string>>();
    for (const { uses = "" } of [...workflows.keys()].flatMap(stepsOf).filter((step) => step.uses)) {
      const [action = "", commit = ""] = uses.split("@");
      versions.set(action, (versions.get(action) ?? new Set()).add(commit));
    }
    for (const [action, commits] of versions) expect([action, commits.size]).toEqual([action, 1]);
  });

  test("has read permissions (images.yaml also writes issues, labels.yaml labels), persists no credentials, has a timeout, and runs once per ref", () => {
    for (const [name, { permissions, concurrency, jobs }] of workflows) {
      expect(permissions).toEqual({ contents: "read" });
      expect(concurrency.group).toContain("github.ref");
      for (const job of Object.values(jobs)) {
        expect(job["timeout-minutes"]).toBeGreaterThan(0);
        if (name !== "release.yaml") expect(job.permissions).toEqual(writing[name]);
      }
      const [checkout] = stepsOf(name);
      expect(checkout).toMatchObject({ with: { "persist-credentials": false } });
    }
  });
});

const node = ["actions/setup-node", "node-version-file", '"node": "'] as const;
const go = ["actions/setup-go", "go-version-file", "\ngo 1."] as const;
const expectVersions = (workflow: string) => expectFiles(workflow, [node, go]);
const expectNode = (workflow: string) => expectFiles(workflow, [node]);

/** Versions of programs come from these files. */
async function expectFiles(workflow: string, files: readonly (typeof node | typeof go)[]): Promise<void> {
  for (const [action, field, expected] of files) {
    const step = stepsOf(workflow).find(({ uses }) => uses?.startsWith(`${action}@`));
    expect(await readFile(join(root, String(step?.with?.[field])), "utf8")).toContain(expected);
  }
}

describe("CI", () => {
  test("runs the command in .ci/run and the README, one shard per machine", async () => {
    const byHand = (await readFile(join(root, ".ci/run"), "utf8")).trim().split("\n").at(-1) ?? "";
    const shard = "$" + "{{ matrix.shard }}";
    expect(commandsOf("ci.yaml")).toEqual([`${byHand} -- --shard=${shard}`]);
    expect(await readFile(join(root, "README.md"), "utf8")).toContain(`\n${byHand}\n`);
    const { strategy } = workflows.get("ci.yaml")?.jobs.test ?? {};
    const count = strategy?.matrix.shard?.length ?? 0;
    expect(strategy?.matrix.shard).toEqual(Array.from({ length: count }, (_, at) => `${at + 1}/${count}`));
  });

  test("reads the versions of Node and Go from existing files", async () => {
    await expectVersions("ci.yaml");
  });

  test("caches the platform's programs by their versions", async () => {
    const cache = stepsOf("ci.yaml").find(({ uses }) => uses?.startsWith("actions/cache@"));
    const files = [...String(cache?.with?.key).matchAll(/'([^']+)'/g)].map(([, path = ""]) => path);
    expect(files).toEqual(["deploy/local/versions.ts", "deploy/local/tools/*/go.sum"]);
    expect(await readFile(join(root, files[0] ?? ""), "utf8")).toContain("export const versions");
    expect(cache?.with?.path).toBe("~/.cache/denrei");
  });
});

describe("the nightly workflow", () => {
  test("runs existing commands, every night and on request", async () => {
    const { on, jobs } = workflows.get("nightly.yaml") ?? {};
    expect(Object.keys(on ?? {}).sort()).toEqual(["schedule", "workflow_dispatch"]);
    const { scripts } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
    const commands = jobs?.nightly?.strategy?.matrix.command ?? [];
    expect(commands).toContain("npm run test:nightly");
    const onKind = jobs?.kind?.strategy?.matrix.command ?? [];
    expect(onKind).toEqual(["npm run test:kind", "npm run test:pipecd"]);
    for (const command of [...commands, ...onKind])
      expect(scripts).toHaveProperty([command.split(" ")[2] ?? ""]);
  });

  test("downloads the kpack manifest for the kind tests, with its digest", async () => {
    const text = texts.get("nightly.yaml") ?? "";
    const tests = await readFile(join(root, "test/kind/kpack.test.ts"), "utf8");
    const [, variable = ""] = /process\.env\.(\w+)/.exec(tests) ?? [];
    expect(text).toContain(`      ${variable}: `);
    const version = /release (v[\d.]+) of kpack/.exec(tests)?.[1];
    expect(text).toContain(`releases/download/${version}/release-${version?.slice(1)}.yaml`);
    expect(text).toMatch(/echo "[0-9a-f]{64} {2}\$\w+" \| sha256sum --check/);
  });

  test("reads the versions of Node and Go from existing files", async () => {
    await expectVersions("nightly.yaml");
  });
});

describe("the image's workflow", () => {
  test("builds the image like the README", async () => {
    const readme = await readFile(join(root, "README.md"), "utf8");
    const command = "docker build -f deploy/Dockerfile ";
    const build = commandsOf("image.yaml").find((line) => line.startsWith(command)) ?? "";
    expect(readme).toContain(command);
    expect(build.endsWith(" .")).toBe(true);
  });

  test("verifies signatures of packages, and that the image has an SBOM and a full provenance", async () => {
    const commands = commandsOf("image.yaml");
    expect(commands.indexOf("npm audit signatures")).toBe(commands.indexOf("npm ci --ignore-scripts") + 1);
    const [build = "", check = ""] = commands.slice(-2);
    expect(build).toMatch(/^docker buildx build -f deploy\/Dockerfile .* \.$/);
    for (const option of ["--sbom=true", "--provenance=mode=max"]) expect(build).toContain(option);
    expect(build).toContain(",dest=$RUNNER_TEMP/image");
    expect(check).toBe('npm run supply-chain -- attestations "$RUNNER_TEMP/image"');
    // docs/security.md has the same options.
    const page = await readFile(join(root, "docs/security.md"), "utf8");
    expect(page).toMatch(/docker buildx build .*--sbom=true --provenance=mode=max/);
  });

  test("reads the version of Node from an existing file", async () => {
    await expectNode("image.yaml");
  });
});

describe("the workflow of images", () => {
  test("compares digests with the registries, every night and on request", async () => {
    expect(Object.keys(workflows.get("images.yaml")?.on ?? {}).sort()).toEqual([
      "schedule",
      "workflow_dispatch",
    ]);
    expect(commandsOf("images.yaml")).toEqual([
      "npm ci",
      "npm run supply-chain -- images --unrecorded unrecorded.md",
      expect.stringContaining("gh issue create"),
    ]);
    const { scripts } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
    expect(scripts).toHaveProperty(["supply-chain"]);
    await expectNode("images.yaml");
  });
});

describe("the workflow of labels", () => {
  test("runs no code of the pull request", () => {
    expect(commandsOf("labels.yaml")).toEqual([]);
    const [checkout] = stepsOf("labels.yaml");
    expect(checkout?.with).toEqual({ "persist-credentials": false });
  });
});

describe("the workflow with real pods", () => {
  test("runs the command of its README as root, every night and on request", async () => {
    expect(Object.keys(workflows.get("node.yaml")?.on ?? {}).sort()).toEqual([
      "schedule",
      "workflow_dispatch",
    ]);
    expect(commandsOf("node.yaml")).toEqual(["npm ci", 'sudo env "PATH=$PATH" npm run test:node']);
    const page = await readFile(join(root, "deploy/local/node/README.md"), "utf8");
    expect(page).toContain("\n    sudo npm run test:node\n");
    expect(JSON.parse(await readFile(join(root, "package.json"), "utf8")).scripts).toHaveProperty([
      "test:node",
    ]);
  });

  test("reads the versions of Node and Go from existing files", async () => {
    await expectVersions("node.yaml");
  });
});

/** The release workflow: what each job may do, and what its scripts do, run with programs that only record their arguments. */
import { execFile } from "node:child_process";
import { chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { root } from "./manifests.ts";
import { type Job, readWorkflows, type Workflow } from "./workflows.ts";

let workflow: Workflow;
beforeAll(async () => {
  const { workflows } = await readWorkflows();
  workflow = workflows.get("release.yaml") ?? expect.fail("release.yaml does not exist");
});

const job = (name: string): Job => workflow.jobs[name] ?? expect.fail(`no job ${name}`);

describe("permissions", () => {
  test("each job may do only what it needs", () => {
    const allowed = Object.entries(workflow.jobs).map(([name, { permissions }]) => [name, permissions]);
    const attested = { packages: "write", "id-token": "write", attestations: "write" };
    expect(Object.fromEntries(allowed)).toEqual({
      check: { contents: "read", actions: "read" },
      packages: undefined,
      platforms: { contents: "read", packages: "write" },
      image: attested,
      chart: attested,
      npm: { contents: "read", "id-token": "write" },
      release: { contents: "write" },
    });
  });

  test("a job that may publish installs no packages", () => {
    for (const [name, { permissions = {}, steps }] of Object.entries(workflow.jobs)) {
      if (!Object.values(permissions).includes("write")) continue;
      for (const { run = "" } of steps)
        expect([name, run]).toEqual([name, expect.not.stringMatching(/npm (ci|install|run)/)]);
    }
  });

  test("only tags start it, and nothing is published before the checks and the build, or on npm before everything else", () => {
    expect(workflow.on).toEqual({ push: { tags: ["v*"] } });
    const before = (name: string): string[] =>
      [job(name).needs ?? []].flat().flatMap((needed) => [needed, ...before(needed)]);
    for (const name of ["platforms", "image", "chart", "npm", "release"])
      expect(before(name)).toEqual(expect.arrayContaining(["check", "packages"]));
    expect(before("npm")).toEqual(expect.arrayContaining(["platforms", "image", "chart"]));
    expect(before("release")).toContain("npm");
  });
});

describe("scripts", () => {
  test("fail when a program of a pipe fails", () => {
    expect(workflow.defaults).toEqual({ run: { shell: "bash" } });
  });

  let folder: string;
  let env: Record<string, string>;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "test-release-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    env = {
      IMAGE: "registry.example.com/team/denrei",
      CHARTS: "registry.example.com/team/charts",
      TOKEN: "secret",
      ARCHITECTURE: "amd64",
      GITHUB_REF_NAME: "v1.2.3",
      GITHUB_SHA: "abc",
      GITHUB_ACTOR: "me",
      GITHUB_SERVER_URL: "https://git.example.com",
      GITHUB_REPOSITORY: "team/denrei",
      GITHUB_OUTPUT: join(folder, "output"),
      PATH: `${join(folder, "bin")}${delimiter}${process.env.PATH}`,
    };
    for (const program of ["docker", "helm", "gh", "npm"]) await simulate(program, "");
  });

  /** Makes a program record its arguments, and then run a script. */
  async function simulate(program: string, script: string): Promise<void> {
    const path = join(folder, "bin", program);
    await mkdir(dirname(path), { recursive: true });
    const lines = [
      "#!/bin/sh",
      `echo "${program} $*" >> ${join(folder, "calls")}`,
      'case "$*" in *--password-stdin) cat > /dev/null ;; esac',
      script,
    ];
    await writeFile(path, `${lines.join("\n")}\n`);
    await chmod(path, 0o755);
  }

  /** Runs the scripts of a job as GitHub does. Returns the calls of simulated programs. */
  async function run(name: string): Promise<readonly string[]> {
    for (const { run: script, env: own = {} } of job(name).steps) {
      if (script === undefined) continue;
      const given = Object.fromEntries(Object.entries(own).filter(([, value]) => !value.includes("${{")));
      await promisify(execFile)("bash", ["--noprofile", "--norc", "-eo", "pipefail", "-c", script], {
        cwd: folder,
        env: { ...env, ...given },
      });
    }
    return (await readFile(join(folder, "calls"), "utf8").catch(() => "")).trim().split("\n");
  }

  test("stops when it is not known where to publish, or when the tests have not passed", async () => {
    await simulate("gh", "echo 0");
    await expect(run("check")).rejects.toMatchObject({
      stdout: expect.stringContaining("ci.yaml has not passed for abc on main"),
    });
    await simulate("gh", "echo 1");
    expect(await run("check")).toContain("npm run release -- check v1.2.3");
    delete env.IMAGE;
    await expect(run("check")).rejects.toMatchObject({
      stderr: expect.stringContaining("set the variable IMAGE"),
    });
  });

  test("pushes each platform by its digest, with an SBOM and provenance, and tags an index of both", async () => {
    await simulate(
      "docker",
      `case "$*" in
      *metadata-file*) echo '{"containerimage.digest": "sha256:'$ARCHITECTURE'"}' > metadata.json ;;
      *inspect*) echo sha256:index ;;
    esac`,
    );
    await run("platforms");
    env.ARCHITECTURE = "arm64";
    const builds = (await run("platforms")).filter((call) => call.includes(" build "));
    expect(builds).toEqual(
      ["amd64", "arm64"].map((platform) =>
        expect.stringContaining(`--platform linux/${platform} --sbom=true --provenance=mode=max`),
      ),
    );
    for (const build of builds)
      expect(build).toContain("type=image,name=registry.example.com/team/denrei,push-by-digest=true");
    expect(await run("image")).toContain(
      "docker buildx imagetools create --tag registry.example.com/team/denrei:1.2.3 registry.example.com/team/denrei@sha256:amd64 registry.example.com/team/denrei@sha256:arm64",
    );
    expect(await readFile(env.GITHUB_OUTPUT ?? "", "utf8")).toBe("digest=sha256:index\n");
  });

  test("pushes the chart, and keeps its digest for the attestation", async () => {
    await mkdir(join(folder, "chart"));
    await writeFile(join(folder, "chart/denrei-1.2.3.tgz"), "");
    await simulate("helm", '[ "$1" = push ] && echo "Digest: sha256:chart" >&2; true');
    expect(await run("chart")).toContain(
      "helm push chart/denrei-1.2.3.tgz oci://registry.example.com/team/charts",
    );
    expect(await readFile(env.GITHUB_OUTPUT ?? "", "utf8")).toBe("digest=sha256:chart\n");
  });

  test("publishes the packages that were built, with provenance, unless npm has them", async () => {
    // The job has the sources, but no installed packages.
    await cp(join(root, "deploy/packages"), join(folder, "deploy/packages"), { recursive: true });
    await cp(join(root, "package.json"), join(folder, "package.json"));
    const { version, workspaces }: { version: string; workspaces: readonly string[] } = JSON.parse(
      await readFile(join(root, "package.json"), "utf8"),
    );
    for (const path of workspaces) {
      await mkdir(join(folder, path), { recursive: true });
      await cp(join(root, path, "package.json"), join(folder, path, "package.json"));
    }
    await simulate(
      "npm",
      `case "$*" in
      "view denrei@"*) echo '"${version}"' ;;
      view*) echo E404 >&2; exit 1 ;;
    esac`,
    );
    const published = (await run("npm")).filter((call) => call.startsWith("npm publish"));
    expect(published).toHaveLength(workspaces.length - 1);
    expect(published).toContain(
      `npm publish ${folder}/dist/tarballs/denrei-test-${version}.tgz --access=public --tag=latest --provenance`,
    );
    await simulate("npm", "echo E500 >&2; exit 1");
    await expect(run("npm")).rejects.toMatchObject({ stderr: expect.stringContaining("npm view denrei@") });
  });

  test("creates the release with notes and files, and marks a prerelease", async () => {
    for (const path of ["tarballs/denrei-1.2.3.tgz", "chart/denrei-1.2.3.tgz"]) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), "");
    }
    const files = "--notes-file notes.md tarballs/denrei-1.2.3.tgz chart/denrei-1.2.3.tgz";
    expect(await run("release")).toEqual([
      `gh release create v1.2.3 --verify-tag --latest --title v1.2.3 ${files}`,
    ]);
    env.GITHUB_REF_NAME = "v1.2.3-rc.1";
    expect((await run("release")).at(-1)).toContain("--verify-tag --prerelease");
  });
});

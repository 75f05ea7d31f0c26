/** A release has one version, a section of the changelog, and packages with nothing but what they need. */
import { execFile } from "node:child_process";
import { cp, glob, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { contentProblems, type Packed } from "./contents.ts";
import { publishArguments } from "./publish.ts";
import { versionProblems } from "./version.ts";
import { root, workspaces } from "./workspaces.ts";

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "test-release-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

/** A copy of all files that may name the version. */
async function copyOfRepository(): Promise<string> {
  const folder = await temporaryFolder();
  const files = ["*.{json,md}", "deploy/Dockerfile", "deploy/kubernetes/**/*.*"];
  for (const { folder: workspace } of await workspaces()) files.push(`${workspace}/package.json`);
  for await (const path of glob(files, { cwd: root })) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await cp(join(root, path), join(folder, path));
  }
  return folder;
}

const release = (folder: string, ...args: readonly string[]) =>
  new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
    const program = fileURLToPath(new URL("./release.ts", import.meta.url));
    execFile(process.execPath, [program, ...args, "--root", folder], (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    );
  });

/** A package in the lock file. */
interface Locked {
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** The version of a package of the repository, and those of its dependencies in the repository. */
const ownVersions = ({ version, dependencies, peerDependencies }: Locked): ReadonlySet<string> => {
  const own = Object.entries({ ...dependencies, ...peerDependencies }).filter(([name]) =>
    /^@?denrei(\/|$)/.test(name),
  );
  return new Set([version, ...own.map(([, found]) => found)]);
};

test("packages, manifests, and the image have the version of package.json", async () => {
  expect(await versionProblems(root)).toEqual([]);
});

test("a new version is written everywhere, and becomes the tag and the section of the changelog", async () => {
  const folder = await copyOfRepository();
  const read = (path: string) => readFile(join(folder, path), "utf8");
  const { version } = JSON.parse(await read("package.json"));
  const lock = JSON.parse(await read("package-lock.json"));

  expect((await release(folder, "version", "9.8.7-rc.1")).code).toBe(0);
  expect(await versionProblems(folder)).toEqual([]);
  for (const path of [
    "package.json",
    "test/ket/package.json",
    "deploy/Dockerfile",
    "deploy/kubernetes/base/kustomization.yaml",
  ])
    expect([path, (await read(path)).includes(version), (await read(path)).includes("9.8.7-rc.1")]).toEqual([
      path,
      false,
      true,
    ]);
  const { packages, ...head } = JSON.parse(await read("package-lock.json"));
  expect(head.version).toBe("9.8.7-rc.1");
  for (const [path, entry] of Object.entries<Locked>(packages))
    if (path.startsWith("node_modules/")) expect([path, entry]).toEqual([path, lock.packages[path]]);
    else expect([path, ownVersions(entry)]).toEqual([path, new Set(["9.8.7-rc.1"])]);

  expect((await release(folder, "check", "v9.8.7-rc.1")).code).toBe(0);
  expect(await release(folder, "check", "v9.8.7")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(
      "the tag v9.8.7 does not name the version of package.json: expected v9.8.7-rc.1",
    ),
  });
  expect((await release(folder, "notes")).stdout).toMatch(/^This becomes|^### Added/);
  expect(await read("CHANGELOG.md")).toMatch(
    /\n## \[Unreleased\]\n\n## \[9\.8\.7-rc\.1\] - \d{4}-\d\d-\d\d\n/,
  );
  expect(await release(folder, "version", "next")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('"next" is not a version'),
  });
});

test("reports a place with another version, with the command that repairs it", async () => {
  const folder = await copyOfRepository();
  const path = "deploy/kubernetes/base/kustomization.yaml";
  const text = await readFile(join(folder, path), "utf8");
  await writeFile(join(folder, path), text.replace(/newTag: \S+$/m, "newTag: 9.9.9"));
  const { version } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  const problem = `${path}: expected the version ${version} of package.json, found 9.9.9. Run npm run release -- version ${version}`;
  expect(await versionProblems(folder)).toEqual([problem]);
});

test("publishes with provenance, and prereleases under a tag of their own", () => {
  expect(publishArguments("a.tgz", "1.0.0", { dryRun: false })).toEqual([
    "publish",
    "a.tgz",
    "--access=public",
    "--tag=latest",
    "--provenance",
  ]);
  expect(publishArguments("a.tgz", "1.0.0-rc.1", { dryRun: false })).toContain("--tag=next");
});

const manifest = {
  name: "sample",
  version: "1.0.0",
  description: "A sample",
  license: "Apache-2.0",
  type: "module",
  engines: {},
  keywords: [],
  exports: { ".": { types: "./index.d.ts", default: "./index.js" }, "./*": "./*.js" },
};
const complete = {
  "package.json": JSON.stringify(manifest),
  "README.md": "# sample\n\n```ts\n```\n",
  LICENSE: "",
  NOTICE: "",
  "index.js": 'export * from "./part.js";\n',
  "index.d.ts": "",
  "index.js.map": '{"sourcesContent":["text"]}',
  "part.js": "",
  "part.d.ts": "",
  "part.js.map": '{"sourcesContent":["text"]}',
  "template/a.test.ts.template": "",
};

async function problemsWith(
  changes: Readonly<Record<string, string | undefined>>,
): Promise<readonly string[]> {
  const folder = await temporaryFolder();
  const files = Object.entries({ ...complete, ...changes }).filter(([, text]) => text !== undefined);
  for (const [path, text] of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text ?? "");
  }
  const packed: Packed = {
    name: "sample",
    filename: "",
    unpackedSize: 1e6,
    files: files.map(([path]) => ({ path })),
  };
  return contentProblems(folder, packed, { files: ["template/*.template"], megabytes: 1 });
}

test.for([
  ["a complete package", {}, undefined],
  ["a missing license", { LICENSE: undefined }, "LICENSE is missing"],
  [
    "a test",
    { "a.test.js": "", "a.test.d.ts": "", "a.test.js.map": '{"sourcesContent":["text"]}' },
    "a.test.js is only for development",
  ],
  ["a source", { "part.ts": "" }, "part.ts is neither a compiled module nor listed"],
  ["a module without declarations", { "part.d.ts": undefined }, "part.js has no part.d.ts"],
  ["a source map without its source", { "part.js.map": "{}" }, "part.js.map does not contain its source"],
  [
    "an import of a missing module",
    { "index.d.ts": 'export * from "./other.js";\n' },
    "index.d.ts imports other.js, which is not in the package",
  ],
  [
    "an export of a missing module",
    { "package.json": JSON.stringify({ ...manifest, exports: { ".": "./main.js" } }) },
    '"." in package.json expects ./main.js',
  ],
  [
    "types after the module",
    {
      "package.json": JSON.stringify({
        ...manifest,
        exports: { ".": { default: "./index.js", types: "./index.d.ts" } },
      }),
    },
    "types before default",
  ],
  ["a README without an example", { "README.md": "# sample\n" }, "README.md shows no use of the package"],
] as const)("packing reports %s", async ([, changes, problem]) => {
  const problems = await problemsWith(changes);
  if (problem === undefined) expect(problems).toEqual([]);
  else expect(problems).toEqual(expect.arrayContaining([expect.stringContaining(problem)]));
});

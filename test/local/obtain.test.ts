import { mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer as createTcpServer } from "node:net";
import { join } from "node:path";
import { create } from "tar";
import { describe, expect, onTestFinished, test } from "vitest";
import { catalogue, releaseHosts, thisTarget } from "../../deploy/local/binaries/catalogue.ts";
import { ChecksumMismatchError } from "../../deploy/local/binaries/download.ts";
import { cacheFolder } from "../../deploy/local/binaries/installed.ts";
import { BinaryUnavailableError, obtainBinaries } from "../../deploy/local/binaries/obtain.ts";
import type { Progress } from "../../deploy/local/binaries/progress.ts";
import { versions } from "../../deploy/local/versions.ts";
import {
  archiveOf,
  cached,
  env,
  fileName,
  goBuilds,
  hasReleases,
  installed,
  listen,
  name,
  obtain,
  obtainNats,
  paths,
  pinned,
  program,
  publish,
  publishNats,
  putExecutable,
  putGo,
  record,
  root,
  sha256,
  withEmptyMachine,
} from "./releases.ts";

withEmptyMachine();

describe("a program that is already on the machine", () => {
  test("comes from KUBEBUILDER_ASSETS first, whatever its version", async () => {
    env.KUBEBUILDER_ASSETS = join(root, "assets");
    const path = putExecutable(join(root, "assets", name), program("v0.0.1"));
    putExecutable(join(root, "bin", name), pinned());
    putExecutable(installed(), pinned());
    expect((await obtainNats()).binary).toEqual({ name, path, origin: "assets" });
  });

  test("comes from PATH before the cache, when it is the pinned version", async () => {
    const path = putExecutable(join(root, "bin", name), pinned());
    putExecutable(installed(), pinned());
    expect((await obtainNats()).binary).toEqual({ name, path, origin: "path" });
  });

  test.each(["v2.15.1", "v2.15.20", "v12.15.2", "v2.15.2-beta.1", "2.15"])(
    "is not taken from PATH when its version is %s",
    async (version) => {
      putExecutable(join(root, "bin", name), program(`nats-server: ${version}`));
      putExecutable(installed(), pinned());
      expect((await obtainNats()).binary).toEqual({ name, path: installed(), origin: "cache" });
    },
  );

  test("is searched for elsewhere when KUBEBUILDER_ASSETS lacks it", async () => {
    env.KUBEBUILDER_ASSETS = join(root, "assets");
    mkdirSync(join(root, "assets", name), { recursive: true });
    putExecutable(installed(), pinned());
    expect((await obtainNats()).binary.origin).toBe("cache");
  });

  test("is cached in DENREI_CACHE_DIR, or else in XDG_CACHE_HOME", () => {
    const { os, arch } = thisTarget();
    const entry = `bin/etcd-${versions.etcd}-${os}-${arch}`;
    expect(cacheFolder("etcd", { DENREI_CACHE_DIR: "/a", XDG_CACHE_HOME: "/b" })).toBe(`/a/${entry}`);
    expect(cacheFolder("etcd", { XDG_CACHE_HOME: "/b" })).toBe(`/b/denrei/${entry}`);
    expect(cacheFolder("etcd", {})).toMatch(new RegExp(`/\\.cache/denrei/${entry}$`));
  });
});

describe.runIf(hasReleases)("a release", () => {
  test("is downloaded, verified, unpacked, and cached", async () => {
    const archive = await archiveOf(pinned());
    const asked = await publishNats(archive);
    const { binary, steps } = await obtainNats();
    expect(binary).toEqual({ name, path: installed(), origin: "download" });
    expect(readFileSync(installed(), "utf8")).toBe(pinned());
    expect(cached()).toEqual([name]);
    expect(steps.findLast((step) => step.phase === "downloading")).toMatchObject({
      bytes: archive.length,
      total: archive.length,
    });
    expect(asked).toEqual([paths().sums, paths().archive]);

    expect((await obtainNats()).binary.origin).toBe("cache");
    expect(asked).toHaveLength(2);
  });

  test("may be the program itself, with a separate file of its digest", async () => {
    const at = paths("kube-apiserver");
    const text = pinned("kube-apiserver");
    await publish({ [at.archive]: text, [at.sums]: sha256(text) });
    const { binary } = await obtain("kube-apiserver");
    expect(binary.origin).toBe("download");
    expect(readFileSync(binary.path, "utf8")).toBe(text);
  });

  test("may have its digest in GitHub's release JSON", async () => {
    const at = paths("kwok");
    const text = pinned("kwok");
    const release = { assets: [{ name: fileName(at.archive), digest: `sha256:${sha256(text)}` }] };
    await publish({ [at.archive]: text, [at.sums]: JSON.stringify(release) });
    expect((await obtain("kwok")).binary.origin).toBe("download");
  });

  test("with a wrong checksum is an error: nothing is installed and nothing else is tried", async () => {
    putGo();
    const archive = await archiveOf(pinned());
    const wrong = sha256("something else");
    await publishNats(archive, { [paths().sums]: `${wrong}  ${fileName(paths().archive)}` });
    const error = await obtainNats().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ChecksumMismatchError);
    expect(String(error)).toContain(`states ${wrong}.`);
    expect(String(error)).toContain(`has the SHA-256 ${sha256(archive)}`);
    expect(cached()).toEqual([]);
    expect(goBuilds()).toBe("");
  });

  test("must match the recorded checksum, whatever its host states", async () => {
    const archive = await archiveOf(pinned());
    const url = catalogue[name].release(thisTarget(), releaseHosts({}))?.url ?? "";
    const asked = await publishNats(archive);
    record({ [url]: sha256("another archive") });
    const error = await obtainNats().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ChecksumMismatchError);
    expect(String(error)).toContain("its recorded one is");
    expect(cached()).toEqual([]);
    record({ [url]: sha256(archive) });
    expect((await obtainNats()).binary.origin).toBe("download");
    expect(asked).toEqual([paths().archive, paths().archive]);
  });

  test("without a checksum is not downloaded", async () => {
    const asked = await publishNats(await archiveOf(pinned()), { [paths().sums]: "<html>sign in</html>" });
    await expect(obtainNats()).rejects.toThrow(/no SHA-256 of nats-server\S+ in http/);
    expect(asked).toEqual([paths().sums]);
  });

  test("that contains another version is not installed", async () => {
    await publishNats(await archiveOf(program("nats-server: v9.9.9")));
    await expect(obtainNats()).rejects.toThrow(/is not version 2\.15\.2, but "nats-server: v9\.9\.9"/);
    expect(cached()).toEqual([]);
  });

  test("that lacks the program is not installed", async () => {
    const folder = mkdtempSync(join(root, "pack-"));
    writeFileSync(join(folder, "README.md"), "read me");
    await create({ file: join(folder, "a.tar.gz"), cwd: folder, gzip: true }, ["README.md"]);
    await publishNats(readFileSync(join(folder, "a.tar.gz")));
    await expect(obtainNats()).rejects.toThrow(/ contains no executable nats-server-.*\/nats-server/);
  });
});

describe.runIf(hasReleases)("a release that is unavailable", () => {
  /** Falls through to go build, and returns the displayed reason for the release. */
  async function reasonShown(): Promise<string> {
    putGo();
    const { binary, steps } = await obtainNats();
    expect(binary).toEqual({ name, path: installed(), origin: "build" });
    expect(cached()).toEqual([name]);
    return steps.find((step) => step.phase === "unavailable")?.detail ?? "";
  }

  test("because the publisher does not have it", async () => {
    await publish({});
    expect(await reasonShown()).toMatch(/^official release: .*SHA256SUMS answered 404 Not Found$/);
  });

  test("because the connection is refused", async () => {
    expect(await reasonShown()).toMatch(/^official release: .*ECONNREFUSED/);
  });

  test("because the server accepts connections but no TLS handshake", async () => {
    const silent = createTcpServer();
    onTestFinished(() => void silent.close());
    env.DENREI_RELEASES_GITHUB = await listen(silent, "https");
    expect(await reasonShown()).toMatch(/^official release: .*Connect Timeout/);
  });

  test("because the server never responds", async () => {
    await publish({ [paths().sums]: () => undefined });
    expect(await reasonShown()).toMatch(/^official release: .*Headers Timeout/);
  });

  test("because the server stalls in the middle of the file", async () => {
    const archive = await archiveOf(pinned());
    await publishNats(archive, {
      [paths().archive]: (_, response) => {
        response.writeHead(200, { "content-length": archive.length });
        response.write(archive.subarray(0, 10));
      },
    });
    expect(await reasonShown()).toMatch(/^official release: .*Body Timeout/);
  });

  test("because the connection breaks in the middle of the file", async () => {
    const archive = await archiveOf(pinned());
    await publishNats(archive, {
      [paths().archive]: (_, response) => {
        response.writeHead(200, { "content-length": archive.length });
        response.write(archive.subarray(0, 10), () => response.destroy());
      },
    });
    expect(await reasonShown()).toMatch(/^official release: /);
  });
});

test.each([
  ["a file", () => "/dev/null", "ENOTDIR"],
  ["a folder in /proc", () => "/proc/denrei", "ENOENT"],
  [
    "a dangling link",
    () => {
      const link = join(root, "link");
      symlinkSync(join(root, "absent"), link);
      return link;
    },
    "ENOENT",
  ],
])(
  "names a cache folder that cannot be written, and the variable for another one: %s",
  async (_, make, code) => {
    env.DENREI_CACHE_DIR = make();
    const error = await obtainNats().catch((error: unknown) => error as Error);
    expect(error).toBeInstanceOf(BinaryUnavailableError);
    expect((error as Error).message).toMatch(
      new RegExp(
        `^nats-server is not on this machine, and the cache folder ${env.DENREI_CACHE_DIR}\\S+ cannot be written \\(${code}.*set DENREI_CACHE_DIR to another folder\\.$`,
      ),
    );
  },
);

describe("go build", () => {
  test("builds the pinned package in its own module, and reports the elapsed time", async () => {
    putGo();
    const { steps } = await obtainNats();
    expect(goBuilds()).toMatch(/tools\/nats build .*github\.com\/nats-io\/nats-server\/v2\n$/);
    expect(steps).toContainEqual(expect.objectContaining({ phase: "building", elapsedSeconds: 0 }));
  });

  test("that produces another version is not installed", async () => {
    putGo(program("nats-server: v9.9.9"));
    await expect(obtainNats()).rejects.toThrow(/go build: .* is not version 2\.15\.2,/);
    expect(cached()).toEqual([]);
  });

  test("that fails shows the compiler's last lines", async () => {
    putExecutable(
      join(root, "bin/go"),
      '#!/bin/sh\n[ "$1" = version ] && exit 0\necho no space left >&2\nexit 1\n',
    );
    await expect(obtainNats()).rejects.toThrow(/go build .* exited with code 1: no space left/);
  });
});

test("when no source has it, the error lists all sources with reasons and has instructions", async () => {
  const error = await obtainNats().catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(BinaryUnavailableError);
  const lines = String(error).split("\n");
  expect(lines[0]).toMatch(/no source has nats-server 2\.15\.2:/);
  expect(lines.slice(1, 6)).toEqual([
    "  - KUBEBUILDER_ASSETS: not set",
    "  - PATH: no nats-server of version 2.15.2",
    `  - cache: nothing in ${cacheFolder(name, env)}`,
    expect.stringMatching(/ {2}- official release: .*ECONNREFUSED/),
    "  - go build: go is not in PATH",
  ]);
  expect(lines[6]).toMatch(/install Go .* point KUBEBUILDER_ASSETS/);
  expect(cached()).toEqual([]);
});

test.runIf(hasReleases)("an unreachable host is tried once, not once per program", async () => {
  const steps: Progress[] = [];
  putGo(program(`v${versions.etcd} v${versions[name]}`));
  await obtainBinaries([name, "etcd"], { env, onProgress: (step) => steps.push(step) });
  const failed = steps.filter((step) => step.phase === "unavailable");
  expect(failed.map((step) => step.binary)).toEqual([name, "etcd"]);
  expect(failed[0]?.detail).toMatch(/^official release: http.*nats-server.*: connect ECONNREFUSED/);
  expect(failed[1]?.detail).toMatch(/^official release: http.*etcd.* was not tried: .*ECONNREFUSED/);
});

test.runIf(hasReleases)("an unreachable host does not affect other hosts", async () => {
  const { DENREI_RELEASES_GITHUB_API: nowhere } = env;
  await publishNats(await archiveOf(pinned()));
  Object.assign(env, { DENREI_RELEASES_GITHUB_API: nowhere });
  putGo(pinned("kwok"));
  const { kwok, "nats-server": nats } = await obtainBinaries(["kwok", name], { env });
  expect([kwok.origin, nats.origin]).toEqual(["build", "download"]);
});

test.runIf(hasReleases)(
  "an abort ends a download with the signal's reason and leaves nothing behind",
  async () => {
    putGo();
    const abort = new AbortController();
    const reason = new Error("changed my mind");
    await publish({ [paths().sums]: () => abort.abort(reason) });
    await expect(obtainNats(abort.signal)).rejects.toBe(reason);
    expect(cached()).toEqual([]);
    expect(goBuilds()).toBe("");
  },
);

test("an abort ends a build and its compiler", async () => {
  const abort = new AbortController();
  const reason = new Error("changed my mind");
  putExecutable(
    join(root, "bin/go"),
    `#!/bin/sh\n[ "$1" = version ] && exit 0\necho $$ >"${root}/compiler"\nexec /bin/sleep 600\n`,
  );
  const result = obtainNats(abort.signal);
  result.catch(() => undefined);
  const compiler = () => Number(readFileSync(join(root, "compiler"), "utf8"));
  await expect.poll(compiler).toBeGreaterThan(0);
  const pid = compiler();
  abort.abort(reason);
  await expect(result).rejects.toBe(reason);
  expect(() => process.kill(pid, 0)).toThrow("ESRCH");
});

test("the official hosts are used unless mirrors are set", () => {
  expect(releaseHosts({})).toEqual({
    kubernetes: "https://dl.k8s.io",
    github: "https://github.com",
    githubApi: "https://api.github.com",
    helm: "https://get.helm.sh",
  });
  expect(releaseHosts({ DENREI_RELEASES_GITHUB: "http://mirror" }).github).toBe("http://mirror");
});

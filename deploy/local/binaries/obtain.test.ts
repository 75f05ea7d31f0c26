import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { create } from "tar";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type BinaryName, versions } from "../versions.ts";
import { catalogue, releaseHosts, thisTarget } from "./catalogue.ts";
import { ChecksumMismatchError } from "./download.ts";
import { cacheFolder } from "./installed.ts";
import { BinaryUnavailableError, obtainBinaries } from "./obtain.ts";
import type { Progress } from "./progress.ts";

// Releases as Linux has them; what differs on macOS is in catalogue.test.ts.
const hasReleases = thisTarget().os === "linux";
const name = "nats-server" as const;

let root: string;
let env: NodeJS.ProcessEnv;
beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), "test-binaries-"));
  mkdirSync(join(root, "bin"));
  // A port that nobody listens on any more: no test may reach a real publisher.
  const closed = createTcpServer();
  const nowhere = await listen(closed, "http");
  closed.close();
  env = {
    PATH: join(root, "bin"),
    DENREI_CACHE_DIR: join(root, "cache"),
    DENREI_RELEASES_KUBERNETES: nowhere,
    DENREI_RELEASES_GITHUB: nowhere,
    DENREI_RELEASES_GITHUB_API: nowhere,
  };
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

async function listen(server: Server, scheme: "http" | "https"): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A program as far as anyone looks: it tells its version. */
const program = (text: string) => `#!/bin/sh\necho "${text}"\n`;
const pinned = (binary: BinaryName = name) => program(`${binary}: v${versions[binary]}`);

function putExecutable(path: string, text: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { mode: 0o755 });
  return path;
}

/** A `go` that "builds" the given program, and notes in a file that it was asked to. */
function putGo(text = pinned()): void {
  putExecutable(
    join(root, "bin/go"),
    `#!/bin/sh
[ "$1" = version ] && exit 0
echo "$PWD $*" >>"${root}/go-builds"
while [ $# -gt 0 ]; do [ "$1" = -o ] && out=$2; shift; done
printf '%s' '${text}' >"$out"
`,
  );
}
const goBuilds = () =>
  existsSync(join(root, "go-builds")) ? readFileSync(join(root, "go-builds"), "utf8") : "";

type Answer = Buffer | string | ((request: IncomingMessage, response: ServerResponse) => void);

/** A publisher that answers these paths, and 404 to others. Returns the paths that were asked for. */
async function publish(files: Record<string, Answer>): Promise<string[]> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    asked.push(path);
    const answer = files[path];
    if (typeof answer === "function") return answer(request, response);
    response.statusCode = answer === undefined ? 404 : 200;
    response.end(answer ?? "nothing here");
  });
  const url = await listen(server, "http");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  env.DENREI_RELEASES_KUBERNETES = `${url}/k8s`;
  env.DENREI_RELEASES_GITHUB = `${url}/github`;
  env.DENREI_RELEASES_GITHUB_API = `${url}/api`;
  return asked;
}

/** The paths of a program's release on the publisher. */
function paths(binary: BinaryName = name) {
  const hosts = { kubernetes: "http://x/k8s", github: "http://x/github", githubApi: "http://x/api" };
  const release = catalogue[binary].release(thisTarget(), hosts);
  if (!release) throw new Error(`expected a release of ${binary} for this machine`);
  const path = (url: string) => new URL(url).pathname;
  return { archive: path(release.url), sums: path(release.checksumUrl), member: release.member ?? "" };
}

/** The program in a .tar.gz as its publisher packs it, besides a file that is not wanted. */
async function archiveOf(text: string): Promise<Buffer> {
  const { member } = paths();
  const folder = mkdtempSync(join(root, "pack-"));
  putExecutable(join(folder, member), text);
  writeFileSync(join(folder, dirname(member), "README.md"), "read me");
  const file = join(folder, "archive.tar.gz");
  await create({ file, cwd: folder, gzip: true }, [dirname(member)]);
  return readFileSync(file);
}

const sha256 = (content: Buffer | string) => createHash("sha256").update(content).digest("hex");
const fileName = (path: string) => path.slice(path.lastIndexOf("/") + 1);

async function publishNats(archive: Buffer, more: Record<string, Answer> = {}): Promise<string[]> {
  const at = paths();
  return publish({
    [at.archive]: archive,
    [at.sums]: `${"0".repeat(64)}  another.tar.gz\n${sha256(archive)}  ${fileName(at.archive)}\n`,
    ...more,
  });
}

/** What it took to get the program, and every step on the way. */
async function obtain<Name extends BinaryName>(binary: Name, signal?: AbortSignal) {
  const steps: Progress[] = [];
  const patience = { connectMillis: 500, stallMillis: 500 };
  const result = obtainBinaries([binary], { env, patience, signal, onProgress: (step) => steps.push(step) });
  return { steps, binary: (await result)[binary] };
}
const obtainNats = (signal?: AbortSignal) => obtain(name, signal);

const installed = () => join(cacheFolder(name, env), name);
/** Everything in the cache folder, the lock and scratch folders included. */
const cached = () => readdirSync(cacheFolder(name, env));

describe("a program that is there already", () => {
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
    "is not taken from PATH when it says %s",
    async (version) => {
      putExecutable(join(root, "bin", name), program(`nats-server: ${version}`));
      putExecutable(installed(), pinned());
      expect((await obtainNats()).binary).toEqual({ name, path: installed(), origin: "cache" });
    },
  );

  test("is looked for in the next place when KUBEBUILDER_ASSETS lacks it", async () => {
    env.KUBEBUILDER_ASSETS = join(root, "assets");
    mkdirSync(join(root, "assets", name), { recursive: true });
    putExecutable(installed(), pinned());
    expect((await obtainNats()).binary.origin).toBe("cache");
  });

  test("has its cache where DENREI_CACHE_DIR says, else XDG_CACHE_HOME", () => {
    const { os, arch } = thisTarget();
    const entry = `bin/etcd-${versions.etcd}-${os}-${arch}`;
    expect(cacheFolder("etcd", { DENREI_CACHE_DIR: "/a", XDG_CACHE_HOME: "/b" })).toBe(`/a/${entry}`);
    expect(cacheFolder("etcd", { XDG_CACHE_HOME: "/b" })).toBe(`/b/denrei/${entry}`);
    expect(cacheFolder("etcd", {})).toMatch(new RegExp(`/\\.cache/denrei/${entry}$`));
  });
});

describe.runIf(hasReleases)("a release", () => {
  test("is downloaded, verified, unpacked and kept", async () => {
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

  test("may be the program itself with its digest alone beside it", async () => {
    const at = paths("kube-apiserver");
    const text = pinned("kube-apiserver");
    await publish({ [at.archive]: text, [at.sums]: sha256(text) });
    const { binary } = await obtain("kube-apiserver");
    expect(binary.origin).toBe("download");
    expect(readFileSync(binary.path, "utf8")).toBe(text);
  });

  test("may have its digest in GitHub's description of the release", async () => {
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
    expect(String(error)).toContain(`the SHA-256 ${wrong}`);
    expect(String(error)).toContain(`found ${sha256(archive)}`);
    expect(cached()).toEqual([]);
    expect(goBuilds()).toBe("");
  });

  test("without a checksum is not downloaded", async () => {
    const asked = await publishNats(await archiveOf(pinned()), { [paths().sums]: "<html>sign in</html>" });
    await expect(obtainNats()).rejects.toThrow(/expected a SHA-256 of nats-server.* but found none/);
    expect(asked).toEqual([paths().sums]);
  });

  test("with another version in it is not installed", async () => {
    await publishNats(await archiveOf(program("nats-server: v9.9.9")));
    await expect(obtainNats()).rejects.toThrow(/to be version 2\.15\.2, but it says "nats-server: v9\.9\.9"/);
    expect(cached()).toEqual([]);
  });

  test("that lacks the program is not installed", async () => {
    const folder = mkdtempSync(join(root, "pack-"));
    writeFileSync(join(folder, "README.md"), "read me");
    await create({ file: join(folder, "a.tar.gz"), cwd: folder, gzip: true }, ["README.md"]);
    await publishNats(readFileSync(join(folder, "a.tar.gz")));
    await expect(obtainNats()).rejects.toThrow(
      /expected nats-server-.*\/nats-server in .*, but it is not there/,
    );
  });
});

describe.runIf(hasReleases)("a release that cannot be had", () => {
  /** Falls through to go build; returns the reason that was shown for the release. */
  async function reasonShown(): Promise<string> {
    putGo();
    const { binary, steps } = await obtainNats();
    expect(binary).toEqual({ name, path: installed(), origin: "build" });
    expect(cached()).toEqual([name]);
    return steps.find((step) => step.phase === "unavailable")?.detail ?? "";
  }

  test("since the publisher does not have it", async () => {
    await publish({});
    expect(await reasonShown()).toMatch(/^official release: .*SHA256SUMS answered 404 Not Found$/);
  });

  test("since nobody listens there", async () => {
    expect(await reasonShown()).toMatch(/^official release: .*ECONNREFUSED/);
  });

  test("since the server accepts and never says hello", async () => {
    const silent = createTcpServer();
    onTestFinished(() => void silent.close());
    env.DENREI_RELEASES_GITHUB = await listen(silent, "https");
    expect(await reasonShown()).toMatch(/^official release: .*Connect Timeout/);
  });

  test("since the server accepts and never answers", async () => {
    await publish({ [paths().sums]: () => undefined });
    expect(await reasonShown()).toMatch(/^official release: .*Headers Timeout/);
  });

  test("since the server stops in the middle of the file", async () => {
    const archive = await archiveOf(pinned());
    await publishNats(archive, {
      [paths().archive]: (_, response) => {
        response.writeHead(200, { "content-length": archive.length });
        response.write(archive.subarray(0, 10));
      },
    });
    expect(await reasonShown()).toMatch(/^official release: .*Body Timeout/);
  });

  test("since the connection breaks in the middle of the file", async () => {
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

describe("go build", () => {
  test("builds the pinned package in its own module, and says how long it takes", async () => {
    putGo();
    const { steps } = await obtainNats();
    expect(goBuilds()).toMatch(/tools\/nats build .*github\.com\/nats-io\/nats-server\/v2\n$/);
    expect(steps).toContainEqual(expect.objectContaining({ phase: "building", elapsedSeconds: 0 }));
  });

  test("that makes another version is not installed", async () => {
    putGo(program("nats-server: v9.9.9"));
    await expect(obtainNats()).rejects.toThrow(/go build: expected .* to be version 2\.15\.2/);
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

test("when no source has it, the error lists each one with its reason and says what to do", async () => {
  const error = await obtainNats().catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(BinaryUnavailableError);
  const lines = String(error).split("\n");
  expect(lines[0]).toMatch(/expected to get nats-server 2\.15\.2 from one of its sources/);
  expect(lines.slice(1, 6)).toEqual([
    "  - KUBEBUILDER_ASSETS: not set",
    "  - PATH: no nats-server of version 2.15.2",
    `  - cache: nothing in ${cacheFolder(name, env)}`,
    expect.stringMatching(/ {2}- official release: .*ECONNREFUSED/),
    "  - go build: there is no go command in PATH",
  ]);
  expect(lines[6]).toMatch(/install Go .* set KUBEBUILDER_ASSETS/);
  expect(cached()).toEqual([]);
});

test.runIf(hasReleases)("a host that cannot be reached is asked once, not once per program", async () => {
  const steps: Progress[] = [];
  putGo(program(`v${versions.etcd} v${versions[name]}`));
  await obtainBinaries([name, "etcd"], { env, onProgress: (step) => steps.push(step) });
  const failed = steps.filter((step) => step.phase === "unavailable");
  expect(failed.map((step) => step.binary)).toEqual([name, "etcd"]);
  // The reason of the first attempt, with its URL: there was no second one.
  expect(failed[1]?.detail).toBe(failed[0]?.detail);
});

test.runIf(hasReleases)("a host that cannot be reached does not keep others from being asked", async () => {
  const { DENREI_RELEASES_GITHUB_API: nowhere } = env;
  await publishNats(await archiveOf(pinned()));
  Object.assign(env, { DENREI_RELEASES_GITHUB_API: nowhere });
  putGo(pinned("kwok"));
  const { kwok, "nats-server": nats } = await obtainBinaries(["kwok", name], { env });
  expect([kwok.origin, nats.origin]).toEqual(["build", "download"]);
});

describe("several processes", () => {
  const script = fileURLToPath(new URL("../fixtures/obtain.ts", import.meta.url));

  /** Another process that gets the same program; resolves with its steps. */
  function obtainElsewhere(onStep: (step: Progress) => void = () => undefined): Promise<Progress[]> {
    const child = spawn(process.execPath, [script], { env, stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    const steps: Progress[] = [];
    createInterface({ input: child.stdout }).on("line", (line) => {
      const step: Progress = JSON.parse(line);
      steps.push(step);
      onStep(step);
    });
    return new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code) =>
        code === 0 ? resolve(steps) : reject(new Error(`it exited with ${code}`)),
      );
    });
  }

  test.runIf(hasReleases)("get a program once: the others wait and take it from the cache", async () => {
    const archive = await archiveOf(pinned());
    const everyoneWaits = Promise.withResolvers<void>();
    const asked = await publishNats(archive, {
      // The one with the lock gets nothing before both others have found it taken.
      [paths().archive]: (_, response) => void everyoneWaits.promise.then(() => response.end(archive)),
    });
    let waiting = 0;
    const onStep = (step: Progress) => {
      if (step.phase === "waiting" && ++waiting === 2) everyoneWaits.resolve();
    };
    const all = await Promise.all([1, 2, 3].map(() => obtainElsewhere(onStep)));
    const origins = all.map((steps) => steps.at(-1)?.detail.split(":")[0]);
    expect(origins.sort()).toEqual(["cache", "cache", "download"]);
    expect(asked.filter((path) => path === paths().archive)).toHaveLength(1);
    expect(cached()).toEqual([name]);
  });

  test("break the lock of a dead one, and clear away what it left", async () => {
    putGo();
    const dead = spawnSync("true").pid;
    const folder = cacheFolder(name, env);
    mkdirSync(join(folder, "lock"), { recursive: true });
    writeFileSync(join(folder, "lock/owner.json"), JSON.stringify({ pid: dead, started: "1" }));
    putExecutable(join(folder, `scratch-${dead}-build`, name), "half a program");
    expect((await obtainNats()).binary.origin).toBe("build");
    expect(cached()).toEqual([name]);
  });

  test("break a lock whose owner's pid is another process by now", async () => {
    putGo();
    const lock = join(cacheFolder(name, env), "lock");
    mkdirSync(lock, { recursive: true });
    writeFileSync(join(lock, "owner.json"), JSON.stringify({ pid: process.pid, started: "1" }));
    expect((await obtainNats()).binary.origin).toBe("build");
  });
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

test("the official hosts are asked unless mirrors are named", () => {
  expect(releaseHosts({})).toEqual({
    kubernetes: "https://dl.k8s.io",
    github: "https://github.com",
    githubApi: "https://api.github.com",
  });
  expect(releaseHosts({ DENREI_RELEASES_GITHUB: "http://mirror" }).github).toBe("http://mirror");
});

/** A simulated publisher of releases, a machine without programs, and scripts in place of programs. */
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
import { create } from "tar";
import { afterEach, beforeEach, onTestFinished } from "vitest";
import { catalogue, thisTarget } from "../../deploy/local/binaries/catalogue.ts";
import type { Checksums } from "../../deploy/local/binaries/checksums.ts";
import { cacheFolder } from "../../deploy/local/binaries/installed.ts";
import { obtainBinaries } from "../../deploy/local/binaries/obtain.ts";
import type { Progress } from "../../deploy/local/binaries/progress.ts";
import { type BinaryName, versions } from "../../deploy/local/versions.ts";

// Releases for Linux. catalogue.test.ts covers the differences on macOS.
export const hasReleases = thisTarget().os === "linux";
export const name = "nats-server" as const;

export let root: string;
export let env: NodeJS.ProcessEnv;

/** Simulates a new machine for each test of the file: empty cache, empty PATH, and unreachable publishers. */
export function withEmptyMachine(): void {
  beforeEach(async () => {
    root = mkdtempSync(join(tmpdir(), "test-binaries-"));
    mkdirSync(join(root, "bin"));
    // A closed port, so that no test reaches a real publisher.
    const closed = createTcpServer();
    const nowhere = await listen(closed, "http");
    closed.close();
    record({});
    env = {
      PATH: join(root, "bin"),
      DENREI_RELEASES_CHECKSUMS: join(root, "checksums.json"),
      DENREI_CACHE_DIR: join(root, "cache"),
      DENREI_RELEASES_KUBERNETES: nowhere,
      DENREI_RELEASES_GITHUB: nowhere,
      DENREI_RELEASES_GITHUB_API: nowhere,
      DENREI_RELEASES_HELM: nowhere,
    };
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));
}

/** Records checksums of releases. */
export const record = (checksums: Checksums): void =>
  writeFileSync(join(root, "checksums.json"), JSON.stringify(checksums));

export async function listen(server: Server, scheme: "http" | "https"): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A script that prints this version. */
export const program = (text: string) => `#!/bin/sh\necho "${text}"\n`;
export const pinned = (binary: BinaryName = name) => program(`${binary}: v${versions[binary]}`);

export function putExecutable(path: string, text: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { mode: 0o755 });
  return path;
}

/** A `go` that "builds" the given program and records each call in a file. */
export function putGo(text = pinned()): void {
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
export const goBuilds = () =>
  existsSync(join(root, "go-builds")) ? readFileSync(join(root, "go-builds"), "utf8") : "";

type Answer = Buffer | string | ((request: IncomingMessage, response: ServerResponse) => void);

/** Starts a publisher with these files, and 404 for other paths. Returns the list of requested paths. */
export async function publish(files: Record<string, Answer>): Promise<string[]> {
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
  env.DENREI_RELEASES_HELM = `${url}/helm`;
  return asked;
}

/** The paths of a program's release on the publisher. */
export function paths(binary: BinaryName = name) {
  const hosts = {
    kubernetes: "http://x/k8s",
    github: "http://x/github",
    githubApi: "http://x/api",
    helm: "http://x/helm",
  };
  const release = catalogue[binary].release(thisTarget(), hosts);
  if (!release) throw new Error(`expected a release of ${binary} for this machine`);
  const path = (url: string) => new URL(url).pathname;
  return { archive: path(release.url), sums: path(release.checksumUrl), member: release.member ?? "" };
}

/** The program in a .tar.gz packed like its publisher's, with an additional file. */
export async function archiveOf(text: string): Promise<Buffer> {
  const { member } = paths();
  const folder = mkdtempSync(join(root, "pack-"));
  putExecutable(join(folder, member), text);
  writeFileSync(join(folder, dirname(member), "README.md"), "read me");
  const file = join(folder, "archive.tar.gz");
  await create({ file, cwd: folder, gzip: true }, [dirname(member)]);
  return readFileSync(file);
}

export const sha256 = (content: Buffer | string) => createHash("sha256").update(content).digest("hex");
export const fileName = (path: string) => path.slice(path.lastIndexOf("/") + 1);

export async function publishNats(archive: Buffer, more: Record<string, Answer> = {}): Promise<string[]> {
  const at = paths();
  return publish({
    [at.archive]: archive,
    [at.sums]: `${"0".repeat(64)}  another.tar.gz\n${sha256(archive)}  ${fileName(at.archive)}\n`,
    ...more,
  });
}

/** The result of obtaining the program, and all progress steps. */
export async function obtain<Name extends BinaryName>(binary: Name, signal?: AbortSignal) {
  const steps: Progress[] = [];
  const timeouts = { connectMillis: 500, stallMillis: 500 };
  const result = obtainBinaries([binary], { env, timeouts, signal, onProgress: (step) => steps.push(step) });
  return { steps, binary: (await result)[binary] };
}
export const obtainNats = (signal?: AbortSignal) => obtain(name, signal);

export const installed = () => join(cacheFolder(name, env), name);
/** Everything in the cache folder, including locks and scratch folders. */
export const cached = () => readdirSync(cacheFolder(name, env));

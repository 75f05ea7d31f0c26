/** Obtains a program from its official release. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { extract } from "tar";
import type { BinaryName } from "../versions.ts";
import { catalogue, type Release, releaseHosts, thisTarget } from "./catalogue.ts";
import { recordedChecksums } from "./checksums.ts";
import { download, HostUnreachableError } from "./download.ts";
import { isExecutable } from "./installed.ts";
import { type Request, versionOf } from "./request.ts";

/** Downloads, verifies, and unpacks the program in a scratch folder, and returns its path there. */
export async function fromRelease(name: BinaryName, scratch: string, request: Request): Promise<string> {
  const target = thisTarget();
  const version = versionOf(name, request.chosen);
  const release = catalogue[name].release(target, releaseHosts(request.env), version);
  if (!release) throw new Error(`no release for ${target.os}-${target.arch}`);
  // A mirror must serve the same file as the official host.
  const official = catalogue[name].release(target, releaseHosts({}), version)?.url ?? release.url;
  const sha256 = recordedChecksums(request.env)[official];
  for (const url of [...(sha256 === undefined ? [release.checksumUrl] : []), release.url]) {
    const { host } = new URL(url);
    const reason = request.unreachable.get(host);
    if (reason !== undefined) throw new Error(`${url} was not tried: no connection to ${host} (${reason})`);
  }
  const path = join(scratch, release.member === undefined ? name : "archive");
  const onBytes = (bytes: number, total: number | undefined) =>
    request.onProgress({ binary: name, phase: "downloading", detail: release.url, bytes, total });
  onBytes(0, undefined);
  try {
    await download({ ...release, sha256, path, onBytes }, request);
  } catch (error) {
    if (error instanceof HostUnreachableError) request.unreachable.set(error.host, error.reason);
    throw error;
  }
  return release.member === undefined ? path : unpack(path, release.member, scratch, release);
}

async function unpack(archive: string, member: string, scratch: string, { url }: Release): Promise<string> {
  if (url.endsWith(".zip")) {
    // macOS includes unzip. On Linux, only the archive of nats needs it; without unzip, nats is built from source.
    await promisify(execFile)("unzip", ["-q", archive, member, "-d", scratch]);
  } else {
    await extract({ file: archive, cwd: scratch, filter: (path) => path === member, strict: true });
  }
  const program = join(scratch, member);
  if (!(await isExecutable(program))) throw new Error(`${url} contains no executable ${member}`);
  return program;
}

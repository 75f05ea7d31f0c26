/** A run: a directory and the child processes that live and die with this process. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { Socket } from "node:net";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { type Child, type ChildSpec, createChild, lifelineScript } from "./child.ts";
import { identify } from "./identity.ts";
import { ownerFile, sweepAbandonedRuns } from "./sweep.ts";

/** Where children live. Independent runs side by side share nothing. */
export interface Run {
  /** Readable by this user alone; removed at the end, however this process ends. */
  readonly directory: string;
  /** Prepares a child of this run; call its `start`. Throws when a running child has the name or the run is closed. */
  child(spec: ChildSpec): Child;
  /** Stops every child that still runs and removes the directory. Calling it again waits for the same end. */
  close(): Promise<void>;
}

/**
 * Opens a run, after clearing away what runs of dead owners left behind. A detached shell watches this process and
 * cleans up should it die without `close`, be it by `kill -9`.
 */
export async function openRun(): Promise<Run> {
  if (process.platform === "win32") {
    throw new Error(
      "expected Linux or macOS for the local platform, but this is Windows. Use WSL, or a cluster and a NATS " +
        "server of your own (KUBECONFIG and NATS_URL).",
    );
  }
  await sweepAbandonedRuns();
  const directory = mkdtempSync(join(tmpdir(), "denrei-"));
  writeFileSync(join(directory, ownerFile), JSON.stringify({ host: hostname(), ...identify(process.pid) }));
  for (const folder of ["register", "logs"]) mkdirSync(join(directory, folder));
  const reaper = await startReaper(directory);
  const children = new Map<
    string,
    { readonly child: Child; readonly closingSignal: ChildSpec["closingSignal"] }
  >();
  let closing: Promise<void> | undefined;

  async function close(): Promise<void> {
    await Promise.all([...children.values()].map(({ child, closingSignal }) => child.stop(closingSignal)));
    await reaper.dismiss();
    // For the case that somebody killed the reaper.
    await rm(directory, { recursive: true, force: true, maxRetries: 3 });
  }

  return {
    directory,
    child(spec) {
      if (closing) throw new Error(`expected an open run to start ${spec.name} in, but it was closed`);
      if (!/^[\w.-]+$/.test(spec.name)) {
        throw new Error(`expected a name of letters, digits, ".", "_" and "-", but found "${spec.name}"`);
      }
      if (children.get(spec.name)?.child.pid !== undefined) {
        throw new Error(
          `expected a name that no running child has, but "${spec.name}" runs already. ` +
            "Start that one again instead, or number them.",
        );
      }
      const child = createChild(directory, spec);
      children.set(spec.name, { child, closingSignal: spec.closingSignal });
      return child;
    },
    close() {
      closing ??= close();
      return closing;
    },
  };
}

interface Reaper {
  /** Lets it do its work, of which usually only the directory is left, and waits for its end. */
  dismiss(): Promise<void>;
}

async function startReaper(directory: string): Promise<Reaper> {
  const reaper = spawn("/bin/sh", [lifelineScript, "reap", directory], {
    // The pipe is the lifeline: no other process holds its other end, so it ends with this one.
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
    cwd: "/",
  });
  await once(reaper, "spawn");
  const ended = once(reaper, "exit");
  // Watching must not keep this process alive.
  reaper.unref();
  if (reaper.stdin instanceof Socket) reaper.stdin.unref();
  reaper.stdin.on("error", () => undefined);
  return {
    async dismiss() {
      if (reaper.exitCode !== null || reaper.signalCode !== null) return;
      reaper.ref();
      reaper.stdin.end();
      await ended;
    },
  };
}

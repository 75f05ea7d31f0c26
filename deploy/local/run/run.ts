/** A run: a directory and child processes that end with this process. */
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

/** Owns child processes. Runs are independent of each other. */
export interface Run {
  /** Readable only by this user. Removed at the end, however this process ends. */
  readonly directory: string;
  /** Prepares a child of this run without starting it. Throws when the name is in use by a running child or the run is closed. */
  child(spec: ChildSpec): Child;
  /** Stops every running child and removes the directory. Further calls wait for the same end. */
  close(): Promise<void>;
}

/**
 * Opens a run, after cleaning up runs of dead owners. A detached shell watches this process and cleans up if it ends without
 * `close`, even by `kill -9`.
 */
export async function openRun(): Promise<Run> {
  if (process.platform === "win32") {
    throw new Error(
      "The local platform does not support Windows. Use WSL, or an existing cluster and NATS server " +
        "(KUBECONFIG and NATS_URL).",
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
    // In case the reaper was killed.
    await rm(directory, { recursive: true, force: true, maxRetries: 3 });
  }

  return {
    directory,
    child(spec) {
      if (closing) throw new Error(`cannot start ${spec.name}: the run is closed`);
      if (!/^[\w.-]+$/.test(spec.name)) {
        throw new Error(
          `child name "${spec.name}" contains other characters than letters, digits, ".", "_", and "-"`,
        );
      }
      if (children.get(spec.name)?.child.pid !== undefined) {
        throw new Error(
          `a child named "${spec.name}" is already running. Restart it instead, or choose another name.`,
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
  /** Triggers its cleanup, usually only of the directory, and waits for its end. */
  dismiss(): Promise<void>;
}

async function startReaper(directory: string): Promise<Reaper> {
  const reaper = spawn("/bin/sh", [lifelineScript, "reap", directory], {
    // The reaper acts when this pipe closes. Only this process holds the other end.
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
    cwd: "/",
  });
  await once(reaper, "spawn");
  const ended = once(reaper, "exit");
  // The reaper must not keep this process alive.
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

import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { type ChildSpec, ChildStartError, type Exit } from "./child.ts";
import { identify, isRunning } from "./identity.ts";
import { openRun, type Run } from "./run.ts";
import { sweepAbandonedRuns } from "./sweep.ts";

const ownerScript = fileURLToPath(new URL("../fixtures/owner.ts", import.meta.url));

// A separate temporary folder, so that these tests do not sweep other runs.
let temporary: string;
beforeEach(() => {
  temporary = mkdtempSync(join(tmpdir(), "test-runs-"));
  vi.stubEnv("TMPDIR", temporary);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(temporary, { recursive: true, force: true });
});

async function open(): Promise<Run> {
  const run = await openRun();
  onTestFinished(() => run.close());
  return run;
}

const sh = (script: string) => ({ command: "sh", args: ["-c", script] });
const runs = (pid: number | undefined): boolean => pid !== undefined && identify(pid) !== undefined;

/** Kills a process from outside the run. Never with pid 0 or NaN, which mean more than one process. */
function kill(pid: number | undefined): void {
  if (!pid) throw new Error("expected a process to kill");
  process.kill(pid, "SIGKILL");
}

/** Starts a child and waits for its first output. */
async function startTalking(run: Run, name: string, script: string, more: Partial<ChildSpec> = {}) {
  const lines: string[] = [];
  const child = run.child({
    name,
    ...sh(script),
    onLine: (line) => lines.push(line),
    ready: async () => expect(lines).not.toEqual([]),
    ...more,
  });
  await child.start();
  return { child, lines };
}

describe("a child", () => {
  test("writes its log into the run's directory and passes on its lines", async () => {
    const run = await open();
    const { child, lines } = await startTalking(run, "talker", "echo one; echo two >&2; sleep 600");
    await expect.poll(() => [...lines].sort()).toEqual(["one", "two"]);
    await child.stop();
    expect(child.logPath).toBe(join(run.directory, "logs/talker.log"));
    expect(readFileSync(child.logPath, "utf8").split("\n").sort()).toEqual(["", "one", "two"]);
  });

  test("gets the environment without removed variables", async () => {
    vi.stubEnv("DENREI_TEST_KEPT", "kept");
    vi.stubEnv("DENREI_TEST_TAKEN", "taken");
    const run = await open();
    const child = run.child({
      name: "env",
      ...sh('echo "$DENREI_TEST_KEPT-$DENREI_TEST_GIVEN-$DENREI_TEST_TAKEN"'),
      env: { DENREI_TEST_GIVEN: "given", DENREI_TEST_TAKEN: undefined },
    });
    await child.start();
    await child.exited();
    expect(readFileSync(child.logPath, "utf8")).toBe("kept-given-\n");
  });

  test("that ends before it is ready causes an error with its last lines", async () => {
    const run = await open();
    const never = async () => {
      throw new Error("not yet");
    };
    const child = run.child({ name: "broken", ...sh("echo the disk is full; exit 3"), ready: never });
    const error = await child.start().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ChildStartError);
    expect(String(error)).toMatch(/broken \(.*\) did not start: it exited with code 3.*the disk is full/s);
    expect(child.pid).toBeUndefined();
  });

  test("that does not become ready in time is killed, and the error has the probe's reason", async () => {
    const run = await open();
    let pid: number | undefined;
    const child = run.child({
      name: "slow",
      ...sh("sleep 600"),
      readyMillis: 100,
      ready: async () => {
        pid = child.pid;
        throw new Error("connection refused");
      },
    });
    await expect(child.start()).rejects.toThrow(
      /timed out after 0.1 s waiting for it to become ready: connection refused/,
    );
    expect(pid).toBeTypeOf("number");
    expect(runs(pid)).toBe(false);
  });

  test("is killed when its start is aborted, and the error is the signal's reason", async () => {
    const run = await open();
    const abort = new AbortController();
    const reason = new Error("changed my mind");
    let pid: number | undefined;
    const child = run.child({
      name: "unwanted",
      ...sh("sleep 600"),
      ready: async () => {
        pid = child.pid;
        abort.abort(reason);
        throw new Error("not yet");
      },
    });
    await expect(child.start(abort.signal)).rejects.toBe(reason);
    expect(runs(pid)).toBe(false);
  });

  test("that ignores SIGTERM is killed after the grace period", async () => {
    const run = await open();
    const script = "trap '' TERM; echo armed; while :; do sleep 1; done";
    const { child } = await startTalking(run, "stubborn", script, { graceMillis: 50 });
    const { pid } = child;
    const exit = child.exited();
    await child.stop();
    expect(await exit).toEqual({ code: null, signal: "SIGKILL" });
    expect(runs(pid)).toBe(false);
  });

  test("takes its own children with it", async () => {
    const run = await open();
    // Only to the log: children with a pipe to this process would be noticed by the pipe.
    const child = run.child({ name: "parent", ...sh("sleep 600 & echo $!; wait") });
    await child.start();
    const grandchild = () => Number(readFileSync(child.logPath, "utf8"));
    await expect.poll(grandchild).toBeGreaterThan(0);
    expect(runs(grandchild())).toBe(true);
    await child.stop();
    await expect.poll(() => runs(grandchild())).toBe(false);
  });

  test("starts again after a kill, with another pid and the same log", async () => {
    const run = await open();
    const { child } = await startTalking(run, "phoenix", "echo alive; sleep 600");
    const first = child.pid;
    await child.stop("SIGKILL");
    expect(child.pid).toBeUndefined();
    await child.start();
    expect(runs(child.pid)).toBe(true);
    expect(child.pid).not.toBe(first);
    await expect.poll(() => readFileSync(child.logPath, "utf8")).toBe("alive\nalive\n");
  });

  test("reports an unexpected end, and not a requested one", async () => {
    const run = await open();
    const exits: Exit[] = [];
    const child = run.child({ name: "fragile", ...sh("sleep 600"), onUnexpectedExit: (e) => exits.push(e) });
    await child.start();
    await child.stop();
    expect(exits).toEqual([]);
    await child.start();
    const exited = child.exited();
    kill(child.pid);
    await exited;
    expect(exits).toEqual([{ code: null, signal: "SIGKILL" }]);
  });

  test("needs a name that no running child uses", async () => {
    const run = await open();
    const child = run.child({ name: "only-one", ...sh("sleep 600") });
    await child.start();
    expect(() => run.child({ name: "only-one", ...sh("sleep 600") })).toThrow(
      /"only-one" is already running/,
    );
    await child.stop();
    await run.child({ name: "only-one", ...sh("sleep 600") }).start();
  });
});

describe("a run", () => {
  test("ends all children and removes its directory when it is closed", async () => {
    const run = await open();
    const children = ["a", "b"].map((name) => run.child({ name, ...sh("sleep 600") }));
    await Promise.all(children.map((child) => child.start()));
    const pids = children.map((child) => child.pid);
    expect(pids.map(runs)).toEqual([true, true]);
    await Promise.all([run.close(), run.close()]);
    expect(pids.map(runs)).toEqual([false, false]);
    expect(existsSync(run.directory)).toBe(false);
    expect(() => run.child({ name: "late", ...sh("true") })).toThrow(/cannot start late: the run is closed/);
  });

  test.each([
    { closingSignal: undefined, lines: ["armed", "asked to end"] },
    { closingSignal: "SIGKILL", lines: ["armed"] },
  ] as const)("sends $closingSignal to a child when it is closed", async ({ closingSignal, lines }) => {
    const run = await open();
    const script = "trap 'echo asked to end; exit' TERM; echo armed; while :; do sleep 0.01; done";
    const talking = await startTalking(run, "talker", script, { closingSignal });
    await run.close();
    expect(talking.lines).toEqual(lines);
  });

  test("hides its directory from other users", async () => {
    const run = await open();
    const mode = execFileSync("ls", ["-ld", run.directory], { encoding: "utf8" }).slice(0, 10);
    expect(mode).toBe("drwx------");
  });

  test("forgets children that ended, so a later process with the same pid is not killed", async () => {
    const run = await open();
    const child = run.child({ name: "short", ...sh("true") });
    await child.start();
    await child.exited();
    expect(readdirSync(join(run.directory, "register"))).toEqual([]);
  });
});

interface OwnedRun {
  readonly directory: string;
  readonly pids: readonly number[];
}

/** Starts the owner fixture and resolves once its children run. */
async function startOwner(): Promise<{ owner: ChildProcess; owned: OwnedRun }> {
  const owner = spawn(process.execPath, [ownerScript], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void owner.kill("SIGKILL"));
  const [line] = (await once(createInterface({ input: owner.stdout }), "line")) as [string];
  const owned: OwnedRun = JSON.parse(line);
  expect(owned.pids.map(runs)).toEqual([true, true, true, true]);
  return { owner, owned };
}

async function expectNothingLeft({ directory, pids }: OwnedRun): Promise<void> {
  await expect.poll(() => pids.filter(runs), { timeout: 20_000 }).toEqual([]);
  await expect.poll(() => existsSync(directory), { timeout: 20_000 }).toBe(false);
}

describe("when the owner dies", () => {
  test("by any signal, children, grandchildren, and directory are removed", async () => {
    const signals = ["SIGKILL", "SIGTERM", "SIGINT", "SIGHUP"] as const;
    const owners = await Promise.all(signals.map(startOwner));
    signals.forEach((signal, index) => void owners[index]?.owner.kill(signal));
    await Promise.all(owners.map(({ owned }) => expectNothingLeft(owned)));
  });

  test("they are removed even when the directory disappears before all children have ended", async () => {
    const { owner, owned } = await startOwner();
    owner.kill("SIGKILL");
    // One child ignores SIGTERM, so the reaper is not done when another has obeyed.
    await expect.poll(() => owned.pids.filter(runs).length, { interval: 5 }).toBeLessThan(4);
    rmSync(owned.directory, { recursive: true, maxRetries: 3 });
    await expectNothingLeft(owned);
  });

  test("together with its reaper, the next run cleans up", async () => {
    const { owner, owned } = await startOwner();
    const reapers = execFileSync("ps", ["-A", "-ww", "-o", "pid=,args="], { encoding: "utf8" })
      .split("\n")
      .filter((line) => line.includes(`reap ${owned.directory}`));
    expect(reapers).toHaveLength(1);
    kill(Number.parseInt(reapers[0] ?? "", 10));
    owner.kill("SIGKILL");
    await once(owner, "exit");
    expect(owned.pids.map(runs)).toEqual([true, true, true, true]);
    expect(existsSync(owned.directory)).toBe(true);

    await open();
    await expectNothingLeft(owned);
  });
});

describe("sweeping", () => {
  const deadPid = () => spawnSync("true").pid;
  const abandoned = { host: hostname(), started: "1" };

  /** A run's directory as a dead owner leaves it. */
  function leave(owner: object | string, register: readonly string[] = []): string {
    const directory = mkdtempSync(join(temporary, "denrei-"));
    mkdirSync(join(directory, "register"));
    for (const record of register) writeFileSync(join(directory, "register", record), "");
    writeFileSync(join(directory, "owner.json"), typeof owner === "string" ? owner : JSON.stringify(owner));
    return directory;
  }

  test("removes a run whose owner's pid now belongs to another process", async () => {
    const directory = leave({ ...abandoned, pid: process.pid });
    await sweepAbandonedRuns();
    expect(existsSync(directory)).toBe(false);
  });

  test("keeps the run of a live owner", async () => {
    const directory = leave({ host: hostname(), ...identify(process.pid) });
    await sweepAbandonedRuns();
    expect(existsSync(directory)).toBe(true);
  });

  test("keeps runs of other machines and directories without a readable owner", async () => {
    const foreign = leave({ ...abandoned, host: "elsewhere", pid: deadPid() });
    const unreadable = leave("{");
    const noRun = mkdtempSync(join(temporary, "denrei-"));
    writeFileSync(join(noRun, "notes.txt"), "mine");
    await sweepAbandonedRuns();
    expect([foreign, unreadable, noRun].map((path) => existsSync(path))).toEqual([true, true, true]);
  });

  test("kills a recorded process only when its start time matches", async () => {
    const ours = spawn("sleep", ["600"], { detached: true });
    const theirs = spawn("sleep", ["600"], { detached: true });
    onTestFinished(() => void [ours, theirs].map((child) => child.kill("SIGKILL")));
    const [first, second] = await Promise.all(
      [ours, theirs].map(async (child) => {
        await once(child, "spawn");
        return child.pid === undefined ? undefined : identify(child.pid);
      }),
    );
    if (!first || !second) throw new Error("expected both to run");
    leave({ ...abandoned, pid: deadPid() }, [`${first.pid} ${first.started}`, `${second.pid} 12345`]);
    await sweepAbandonedRuns();
    await expect.poll(() => isRunning(first)).toBe(false);
    expect(isRunning(second)).toBe(true);
  });
});

/**
 * Ends this process when its event loop is blocked. Code that never yields cannot be aborted; the process would answer no probe
 * and keep its slots forever. Its objects go to other workers either way; ending it records which object was the cause.
 *
 * A thread costs 10 MB, so only processes that run reconcile functions have it. For others, the probe of the kubelet is enough.
 */
import { Worker } from "node:worker_threads";
import { isDebugged } from "../config/debugger.ts";
import { beatMillis, onBeat } from "../values/eventloop.ts";

/** Interval of the checks. Each expects a beat since the one before. Milliseconds. */
const checkMillis = 2 * beatMillis;

/** Runs in its own thread, so it works while the main thread does not. */
const source = `
const { workerData, parentPort } = require("node:worker_threads");
const { beats, checks, pid, message } = workerData;
let last = -1, missed = 0;
// Counts its own turns instead of time: after a pause of the process both threads continue where they were.
setInterval(() => {
  const now = Atomics.load(beats, 0);
  missed = now === last ? missed + 1 : 0;
  last = now;
  if (missed < checks) return;
  require("node:fs").writeSync(2, message);
  process.kill(pid, "SIGKILL");
}, ${checkMillis});
`;

/** Starts watching; returns the function that stops it. Does not end a process with a debugger attached. */
export function watchEventLoop(limitMillis: number, name: string): () => void {
  if (isDebugged()) return () => undefined;
  const beats = new Int32Array(new SharedArrayBuffer(4));
  const record = {
    level: "fatal",
    process: name,
    limitMillis,
    msg: "the event loop was blocked for too long, ending the process",
  };
  const thread = new Worker(source, {
    eval: true,
    workerData: {
      beats,
      checks: Math.ceil(limitMillis / checkMillis),
      pid: process.pid,
      message: `${JSON.stringify(record)}\n`,
    },
  });
  thread.unref();
  const stopBeating = onBeat(() => Atomics.add(beats, 0, 1));
  return () => {
    stopBeating();
    void thread.terminate();
  };
}

/**
 * Ends this process when its event loop is blocked: code that never yields can not be aborted, it would answer no probe
 * and keep its slots for ever. Its objects go to other workers either way; ending it makes their suspect known.
 */
import { Worker } from "node:worker_threads";
import { isDebugged } from "../config/debugger.ts";

const beatMillis = 500;

/** Runs in a thread of its own, so it works while the main thread does not. */
const source = `
const { workerData, parentPort } = require("node:worker_threads");
const { beats, checks, pid, message } = workerData;
let last = -1, missed = 0;
// Counted in own turns, not in time: after a pause of the whole process both threads go on where they were.
setInterval(() => {
  const now = Atomics.load(beats, 0);
  missed = now === last ? missed + 1 : 0;
  last = now;
  if (missed < checks) return;
  require("node:fs").writeSync(2, message);
  process.kill(pid, "SIGKILL");
}, ${beatMillis});
`;

/** Starts watching; returns how to stop. A process under a debugger is left alone. */
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
      checks: Math.ceil(limitMillis / beatMillis),
      pid: process.pid,
      message: `${JSON.stringify(record)}\n`,
    },
  });
  thread.unref();
  const beat = setInterval(() => Atomics.add(beats, 0, 1), beatMillis / 2);
  beat.unref();
  return () => {
    clearInterval(beat);
    void thread.terminate();
  };
}

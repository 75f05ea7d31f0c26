/**
 * Garbage collections, heap sizes, and CPU profiles of another process, from outside. An open inspector port (`--inspect`)
 * would make the process count as debugged, and it would run other code; see `isDebugged` in bus/config/debugger.ts.
 */
import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { z } from "zod";

/** The fields of a V8 CPU profile that the summary reads. Times are in microseconds. */
const profileSchema = z.looseObject({
  nodes: z.array(
    z.looseObject({
      id: z.number(),
      callFrame: z.looseObject({ functionName: z.string(), url: z.string(), lineNumber: z.number() }),
      children: z.array(z.number()).optional(),
    }),
  ),
  samples: z.array(z.number()),
  timeDeltas: z.array(z.number()),
});
export type Profile = z.infer<typeof profileSchema>;

const heapSchema = z.looseObject({ usedSize: z.number(), backingStorageSize: z.number() });
const answerSchema = z.object({ error: z.string().optional(), result: z.unknown() });
const samplingMicros = 500;

/** The module that answers in the measured process, as a file URL. */
export const preload = new URL("./preload.js", import.meta.url).href;

/**
 * Environment of a process that can be measured. It listens in `directory`, which only this user may access: a client can
 * run code in the process. The path of `directory` has at most 80 bytes, because Linux limits a socket's to 107.
 */
export const profilerEnv = (directory: string) => ({
  NODE_OPTIONS: `--import=${preload}`,
  DENREI_TEST_PROFILER: directory,
});

/** The socket of a process that was started with {@link profilerEnv} of the same directory. */
export const profilerSocket = (directory: string, pid: number): string =>
  join(directory, `profiler-${pid}.sock`);

/** One connection to a measured process. */
interface Session {
  /** Calls a method of the Chrome DevTools Protocol and returns its result. One call at a time. */
  call(method: string, params?: object): Promise<unknown>;
  close(): void;
}

async function openSession(path: string): Promise<Session> {
  const socket = connect(path);
  await once(socket, "connect");
  const lines = createInterface({ input: socket });
  socket.on("error", () => lines.close());
  const answers = lines[Symbol.asyncIterator]();
  return {
    async call(method, params) {
      socket.write(`${JSON.stringify({ method, params })}\n`);
      const { value, done } = await answers.next();
      if (done) throw new Error(`process behind ${path} ended before it answered ${method}`);
      const { error, result } = answerSchema.parse(JSON.parse(value));
      if (error !== undefined) throw new Error(`${method} failed: ${error}`);
      return result;
    },
    close: () => void socket.end(),
  };
}

/** Collects all garbage of a process. The second collection finds what the first one's finalizers freed. */
export async function collectGarbage(path: string): Promise<void> {
  const session = await openSession(path);
  await session.call("HeapProfiler.collectGarbage");
  await session.call("HeapProfiler.collectGarbage");
  session.close();
}

/** Size of the live and dead objects in V8's heap, and of array buffers beside it, in bytes. */
export async function heapBytes(path: string): Promise<number> {
  const session = await openSession(path);
  const { usedSize, backingStorageSize } = heapSchema.parse(await session.call("Runtime.getHeapUsage"));
  session.close();
  return usedSize + backingStorageSize;
}

/** Profiles a process until the returned function is called. */
export async function startProfile(path: string): Promise<() => Promise<Profile>> {
  const session = await openSession(path);
  await session.call("Profiler.enable");
  await session.call("Profiler.setSamplingInterval", { interval: samplingMicros });
  await session.call("Profiler.start");
  return async () => {
    const { profile } = z.object({ profile: profileSchema }).parse(await session.call("Profiler.stop"));
    session.close();
    return profile;
  };
}

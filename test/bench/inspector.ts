/** Node's inspector from outside: garbage collections and CPU profiles of a process that was started with one. */
import { z } from "zod";

/** Starts the inspector on a free port; the process says on which. */
export const inspectorArgument = "--inspect=127.0.0.1:0";

/** Where its inspector listens, or undefined when the line does not tell. */
export const inspectorUrl = (line: string): string | undefined =>
  /^Debugger listening on (ws:\S+)/.exec(line)?.[1];

/** A V8 CPU profile, as far as it is used. Times are in microseconds. */
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
const answerSchema = z.looseObject({ id: z.number(), result: z.unknown().optional() });
const samplingMicros = 500;

/** One connection to an inspector. */
interface Session {
  /** Calls a method of the Chrome DevTools Protocol and returns its result. One call at a time. */
  call(method: string, params?: object): Promise<unknown>;
  close(): void;
}

async function openSession(url: string): Promise<Session> {
  const socket = new WebSocket(url);
  const opened = Promise.withResolvers<void>();
  let answered = Promise.withResolvers<unknown>();
  socket.onopen = () => opened.resolve();
  socket.onclose = () => {
    const error = new Error(`expected the inspector of a Node process at ${url}, found none`);
    opened.reject(error);
    answered.reject(error);
  };
  socket.onmessage = ({ data }) => {
    const answer = answerSchema.safeParse(JSON.parse(String(data)));
    // What has no id is an event that nobody asked for.
    if (answer.success) answered.resolve(answer.data.result);
  };
  await opened.promise;
  return {
    async call(method, params) {
      answered = Promise.withResolvers();
      socket.send(JSON.stringify({ id: 1, method, params }));
      return answered.promise;
    },
    close() {
      answered.promise.catch(() => undefined);
      socket.close();
    },
  };
}

/** Collects all garbage of a process. The second collection finds what the first one's finalizers freed. */
export async function collectGarbage(url: string): Promise<void> {
  const session = await openSession(url);
  await session.call("HeapProfiler.enable");
  await session.call("HeapProfiler.collectGarbage");
  await session.call("HeapProfiler.collectGarbage");
  session.close();
}

/** What a process holds in V8's heap and in array buffers beside it, in bytes. */
export async function heapBytes(url: string): Promise<number> {
  const session = await openSession(url);
  const { usedSize, backingStorageSize } = heapSchema.parse(await session.call("Runtime.getHeapUsage"));
  session.close();
  return usedSize + backingStorageSize;
}

/** Profiles a process until the returned function is called. */
export async function startProfile(url: string): Promise<() => Promise<Profile>> {
  const session = await openSession(url);
  await session.call("Profiler.enable");
  await session.call("Profiler.setSamplingInterval", { interval: samplingMicros });
  await session.call("Profiler.start");
  return async () => {
    const { profile } = z.object({ profile: profileSchema }).parse(await session.call("Profiler.stop"));
    session.close();
    return profile;
  };
}

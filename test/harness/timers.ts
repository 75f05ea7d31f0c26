/** Delayed requests of functions: reads their delays, and fires them early. */
import type { ObjectName } from "../../bus/kube/client.ts";
import { publishUntilAnswered } from "../../bus/queue/publish.ts";
import { parseRequest, type Request } from "../../bus/queue/request.ts";
import { timersStream, work } from "../../bus/subjects.ts";
import { poll } from "../../deploy/local/run/poll.ts";
import type { TestObjects } from "./testobjects.ts";

type At = Pick<TestObjects, "bus">;

/** Delays are in steps of 100 ms, rounded down: a worker knows the clock of the bus to within half a round trip. */
const stepMillis = 100;
const inSteps = (millis: number): number => Math.floor(millis / stepMillis) * stepMillis;

/** The delay in milliseconds until the delayed request of an object is due. Waits up to a minute for a worker to store one. */
export async function timerLeft(objects: At, fn: string, at: ObjectName): Promise<number> {
  const { request } = await stored(objects, fn, at);
  return inSteps((request.since ?? 0) - Date.now());
}

/**
 * Fires the delayed request of an object now, by the schedule that a worker has stored, and resolves with the delay in milliseconds that was left.
 * Waits up to a minute for a worker to store one. For delays of 5 s and more: for a shorter one, the worker also keeps its own timer.
 */
export async function fireTimer(objects: At, fn: string, at: ObjectName): Promise<number> {
  const { request } = await stored(objects, fn, at);
  const { since = 0 } = request;
  return inSteps(since - (await fire(objects, fn, at, request)));
}

/** The delay in milliseconds with which a worker stored the delayed request. Waits up to a minute for a worker to store one. */
export async function storedDelay(objects: At, fn: string, at: ObjectName): Promise<number> {
  const { request, time } = await stored(objects, fn, at);
  return inSteps((request.since ?? 0) - time);
}

/** Fires the delayed request of an object now, if one is stored. */
export async function hastenTimer(objects: At, fn: string, at: ObjectName): Promise<void> {
  const found = await find(objects, fn, at);
  if (found !== undefined) await fire(objects, fn, at, found.request);
}

/**
 * Makes a change that publishes no event for the function, and then fires the delayed request. For delays of a few seconds, which may
 * also pass by themselves in between. Resolves with the delay that the worker has stored.
 */
export async function changeBeforeTimer(
  objects: At,
  fn: string,
  at: ObjectName,
  change: () => Promise<unknown>,
): Promise<number> {
  const delay = await storedDelay(objects, fn, at);
  await change();
  await hastenTimer(objects, fn, at);
  return delay;
}

async function fire({ bus }: At, fn: string, at: ObjectName, request: Request): Promise<number> {
  const now = Date.now();
  const [scope, key] = [scopeOf(fn), keyOf(at)];
  await publishUntilAnswered(bus, work.timer(scope, key), JSON.stringify({ ...request, since: now }), {
    schedule: { at: new Date(now), target: work.timerDue(scope, key) },
  });
  return now;
}

const scopeOf = (fn: string) => ({ fn, cluster: "default" });
const keyOf = ({ namespace = "", name }: ObjectName) => ({ namespace, name });

interface Delayed {
  readonly request: Request;
  /** The time at which it was stored. Milliseconds since the epoch. */
  readonly time: number;
}

async function find({ bus }: At, fn: string, at: ObjectName): Promise<Delayed | undefined> {
  const message = await bus.jsm.direct.getMessage(timersStream(fn), {
    last_by_subj: work.timer(scopeOf(fn), keyOf(at)),
  });
  return message === null
    ? undefined
    : { request: parseRequest(message.string()), time: message.time.getTime() };
}

function stored(objects: At, fn: string, at: ObjectName): Promise<Delayed> {
  return poll(
    `a delayed request of ${fn} for ${at.name}`,
    async () => {
      const found = await find(objects, fn, at);
      if (found === undefined) throw new Error("none is stored");
      // A schedule that a test has fired stays until the server has published it. It is not the next one.
      if ((found.request.since ?? 0) <= found.time) throw new Error("the stored request is already due");
      return found;
    },
    { timeoutMillis: 60_000 },
  );
}

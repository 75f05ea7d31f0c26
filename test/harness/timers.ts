/** Delayed requests of functions: how long they wait, and having one fall due early instead of waiting for it. */
import type { ObjectName } from "../../bus/kube/client.ts";
import { publishUntilAnswered } from "../../bus/queue/publish.ts";
import { parseRequest, type Request } from "../../bus/queue/request.ts";
import { timersStream, work } from "../../bus/subjects.ts";
import { poll } from "../../deploy/local/run/poll.ts";
import type { World } from "./world.ts";

type At = Pick<World, "bus">;

/** The milliseconds that the delayed request of an object has left. Waits up to a minute for a worker to store one. */
export async function timerLeft(world: At, fn: string, at: ObjectName): Promise<number> {
  const { since = 0 } = await delayedRequest(world, fn, at);
  return since - Date.now();
}

/**
 * Has the delayed request of an object fall due now, by the schedule that a worker has stored, and resolves with the milliseconds
 * that it had left. Waits up to a minute for a worker to store one. For delays of 5 s and more: the worker that stored a shorter one
 * keeps a timer of its own as well.
 */
export async function fireTimer(world: At, fn: string, at: ObjectName): Promise<number> {
  const request = await delayedRequest(world, fn, at);
  const now = Date.now();
  const [scope, key] = [scopeOf(fn), keyOf(at)];
  await publishUntilAnswered(world.bus, work.timer(scope, key), JSON.stringify({ ...request, since: now }), {
    schedule: { at: new Date(now), target: work.timerDue(scope, key) },
  });
  return (request.since ?? now) - now;
}

const scopeOf = (fn: string) => ({ fn, cluster: "default" });
const keyOf = ({ namespace = "", name }: ObjectName) => ({ namespace, name });

function delayedRequest({ bus }: At, fn: string, at: ObjectName): Promise<Request> {
  return poll(
    `a delayed request of ${fn} for ${at.name}`,
    async () => {
      const message = await bus.jsm.direct.getMessage(timersStream(fn), {
        last_by_subj: work.timer(scopeOf(fn), keyOf(at)),
      });
      if (message === null) throw new Error("none is stored");
      return parseRequest(message.string());
    },
    { timeoutMillis: 60_000 },
  );
}

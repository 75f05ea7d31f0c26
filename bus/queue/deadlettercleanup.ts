/**
 * Removes the dead letter of an object that was later reconciled or deleted. A condition on the object would not be a reliable
 * hint: not every kind has conditions, and any client may overwrite one. So each process asks the bus once whether the function has
 * any dead letter, and if so, once per object.
 */
import type { NatsConnection } from "@nats-io/transport-node";
import { keyText, type ObjectKey, parseKeySubject, type QueueScope, work } from "../subjects.ts";
import { Recent } from "../values/recent.ts";
import type { DeadLetters } from "./deadletters.ts";

/** Cleans up the dead letters of one function. */
export interface DeadLetterCleanup {
  /** Removes the object's dead letter. Makes no request if this process knows that the object, or the function, has none. */
  remove(key: ObjectKey): Promise<void>;
  /** Drops what this process knows, because it may have missed messages. */
  forget(): void;
  stop(): void;
}

/** Limits of the objects known to have no dead letter. An entry costs about 200 bytes; a missing entry costs one read. */
const remembered = { keptMillis: 3_600_000, limit: 5_000 };

/** Opens the cleanup. It subscribes to dead letters, because any replica may write one. */
export function deadLetterCleanup(
  nc: NatsConnection,
  scope: QueueScope,
  stored: Pick<DeadLetters, "any" | "remove">,
): DeadLetterCleanup {
  const withoutDeadLetter = new Recent<true>(remembered);
  let written = 0;
  /** Whether the function may have dead letters; undefined until the bus is asked. */
  let any: Promise<boolean> | undefined;

  function ask(): Promise<boolean> {
    const before = written;
    const asked: Promise<boolean> = stored.any().then((found) => found || written > before);
    any = asked;
    asked.catch(() => {
      if (any === asked) any = undefined;
    });
    return asked;
  }

  /** Whether no object of the function has a dead letter. */
  async function hasNone(): Promise<boolean> {
    const asked = any ?? ask();
    // Meanwhile the answer may have become out of date.
    return !(await asked) && any === asked;
  }

  const subscription = nc.subscribe(work.deadLetters(scope), {
    callback(error, { subject, data }) {
      if (error !== null || data.length === 0) return;
      written++;
      any = Promise.resolve(true);
      try {
        withoutDeadLetter.delete(keyText(parseKeySubject(subject).key));
      } catch {
        // The subject names no object. An exception here would stop all reads of the connection.
      }
    },
  });
  return {
    async remove(key) {
      const text = keyText(key);
      if (withoutDeadLetter.get(text) || (await hasNone())) return;
      const before = written;
      await stored.remove(key);
      if (written === before) withoutDeadLetter.set(text, true);
    },
    forget() {
      withoutDeadLetter.clear();
      any = undefined;
    },
    stop: () => subscription.unsubscribe(),
  };
}

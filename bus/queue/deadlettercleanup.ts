/**
 * Removes the dead letter of an object that was reconciled after all, or that was deleted. Most objects with a dead letter have a
 * condition, but not every kind has conditions, and any client may overwrite one. So each process asks the bus once per object.
 */
import type { NatsConnection } from "@nats-io/transport-node";
import { keyText, type ObjectKey, parseKeySubject, type QueueScope, work } from "../subjects.ts";
import { Recent } from "../values/recent.ts";
import type { DeadLetters } from "./deadletters.ts";

/** Cleans up the dead letters of one function. */
export interface DeadLetterCleanup {
  /** Removes the object's letter. Free when this process knows that the object has no letter. */
  remove(key: ObjectKey): Promise<void>;
  /** Asks the bus again, because messages may have been missed. */
  forget(): void;
  stop(): void;
}

/**
 * Objects without a letter that are remembered, and for how long. An object that is forgotten costs one more read, one that is
 * remembered about 200 bytes.
 */
const remembered = { keptMillis: 3_600_000, limit: 5_000 };

/** Opens the cleanup. It listens for letters, which any replica may write. */
export function deadLetterCleanup(
  nc: NatsConnection,
  scope: QueueScope,
  letters: Pick<DeadLetters, "remove">,
): DeadLetterCleanup {
  const withoutDeadLetter = new Recent<true>(remembered);
  let written = 0;
  const subscription = nc.subscribe(work.deadLetters(scope), {
    callback(error, { subject, data }) {
      if (error !== null || data.length === 0) return;
      written++;
      try {
        withoutDeadLetter.delete(keyText(parseKeySubject(subject).key));
      } catch {
        // Names no object. What is thrown here would end the reading of the whole connection.
      }
    },
  });
  return {
    async remove(key) {
      const text = keyText(key);
      if (withoutDeadLetter.get(text)) return;
      const before = written;
      await letters.remove(key);
      if (written === before) withoutDeadLetter.set(text, true);
    },
    forget: () => withoutDeadLetter.clear(),
    stop: () => subscription.unsubscribe(),
  };
}

/** Answers that tests keep back after a call has had its effect. */
import type { Call } from "./call.ts";

/** An answer that waits to be sent. */
export interface HeldAnswer {
  /** Resolves when the call has had its effect. */
  readonly arrived: Promise<Call>;
  /** Lets the answer go. */
  release(): void;
  /** The caller never gets it: the connection is reset. */
  drop(): void;
}

/** The answers that are to be kept back. */
export interface Answers {
  /** The answer to the next call of a method, or to the next one for which a test says so. */
  hold(which: string | ((call: Call) => boolean)): HeldAnswer;
  /** Resolves to whether the caller gets the answer. */
  pass(call: Call): Promise<boolean>;
}

interface Wish {
  readonly wants: (call: Call) => boolean;
  readonly take: (call: Call) => Promise<boolean>;
}

/** Nothing is kept back at first. */
export function openAnswers(): Answers {
  const wishes: Wish[] = [];
  return {
    hold(which) {
      const arrived = Promise.withResolvers<Call>();
      const decided = Promise.withResolvers<boolean>();
      wishes.push({
        wants: typeof which === "string" ? ({ method }) => method === which : which,
        take(call) {
          arrived.resolve(call);
          return decided.promise;
        },
      });
      return {
        arrived: arrived.promise,
        release: () => decided.resolve(true),
        drop: () => decided.resolve(false),
      };
    },
    async pass(call) {
      const index = wishes.findIndex(({ wants }) => wants(call));
      const [wish] = index < 0 ? [] : wishes.splice(index, 1);
      return wish === undefined ? true : wish.take(call);
    },
  };
}

/** Lets tests hold the response to a call that has already taken effect. */
import type { Call } from "./call.ts";

/** A held response. */
export interface HeldAnswer {
  /** Resolves when the call has taken effect. */
  readonly arrived: Promise<Call>;
  /** Sends the response. */
  release(): void;
  /** Drops the response and resets the connection. */
  drop(): void;
}

/** The held responses of a control plane. */
export interface Answers {
  /** Holds the response to the next call of a method, or to the next call that matches. */
  hold(which: string | ((call: Call) => boolean)): HeldAnswer;
  /** Waits while a matching hold lasts. Resolves to whether to send the response. */
  pass(call: Call): Promise<boolean>;
}

interface Hold {
  readonly matches: (call: Call) => boolean;
  readonly take: (call: Call) => Promise<boolean>;
}

/** Creates an empty set of holds. */
export function openAnswers(): Answers {
  const holds: Hold[] = [];
  return {
    hold(which) {
      const arrived = Promise.withResolvers<Call>();
      const decided = Promise.withResolvers<boolean>();
      holds.push({
        matches: typeof which === "string" ? ({ method }) => method === which : which,
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
      const index = holds.findIndex(({ matches }) => matches(call));
      const [hold] = index < 0 ? [] : holds.splice(index, 1);
      return hold === undefined ? true : hold.take(call);
    },
  };
}

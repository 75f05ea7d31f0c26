/** Faults that a test injects into the API. */
import type { ApiCall } from "./call.ts";

/** Selects the requests that a fault affects. */
export interface FaultMatch {
  readonly method?: string;
  /** Matched against the path with its query, without `/api/v3`. */
  readonly path: RegExp;
}

/** A complete response, sent in place of the real one. */
export interface FixedResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A fixed response, a delayed response, or a connection reset. */
export type FaultAnswer =
  | FixedResponse
  | { readonly delayMillis: number }
  /** Responds normally once the promise resolves. */
  | { readonly heldUntil: Promise<unknown> }
  | "reset";

/** An injected fault. */
export interface Fault {
  /** Number of affected requests. */
  readonly hits: number;
  remove(): void;
}

/** All faults of a simulated GitHub. */
export class Faults {
  readonly #active = new Set<{ match: FaultMatch; answer: FaultAnswer; remaining: number; hits: number }>();

  /** Affects the next `times` matching requests, or all of them. */
  add(match: FaultMatch, answer: FaultAnswer, times = Number.POSITIVE_INFINITY): Fault {
    const fault = { match, answer, remaining: times, hits: 0 };
    this.#active.add(fault);
    return {
      get hits() {
        return fault.hits;
      },
      remove: () => {
        this.#active.delete(fault);
      },
    };
  }

  /** The fault for a request; the oldest matching one wins. */
  take({ method, path }: Pick<ApiCall, "method" | "path">): FaultAnswer | undefined {
    for (const fault of this.#active) {
      const { match } = fault;
      // Not `RegExp.test`, which keeps state in an expression with the flag `g`.
      if ((match.method ?? method) !== method || path.search(match.path) < 0) continue;
      fault.hits++;
      if (--fault.remaining <= 0) this.#active.delete(fault);
      return fault.answer;
    }
    return undefined;
  }
}

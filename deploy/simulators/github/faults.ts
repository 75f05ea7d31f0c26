/** What goes wrong with requests to the API, because a test says so. */
import type { ApiCall } from "./call.ts";

/** Which requests it is about. */
export interface FaultMatch {
  readonly method?: string;
  /** Matched against the path with its query, without `/api/v3`. */
  readonly path: RegExp;
}

/** A complete response that replaces the right one. */
export interface FixedResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Instead of the right answer: another one, the right one but later, or a connection that is reset. */
export type FaultAnswer =
  | FixedResponse
  | { readonly delayMillis: number }
  /** The right answer, once the promise is resolved. */
  | { readonly heldUntil: Promise<unknown> }
  | "reset";

/** A fault that was injected. */
export interface Fault {
  /** How many requests it has met. */
  readonly hits: number;
  remove(): void;
}

/** All faults of an emulated GitHub. */
export class Faults {
  readonly #active = new Set<{ match: FaultMatch; answer: FaultAnswer; left: number; hits: number }>();

  /** Meets the next `times` requests that match, or all of them. */
  add(match: FaultMatch, answer: FaultAnswer, times = Number.POSITIVE_INFINITY): Fault {
    const fault = { match, answer, left: times, hits: 0 };
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

  /** What this request meets, the oldest fault first. */
  meet({ method, path }: Pick<ApiCall, "method" | "path">): FaultAnswer | undefined {
    for (const fault of this.#active) {
      const { match } = fault;
      // Not `test`, which remembers where it was when the expression is global.
      if ((match.method ?? method) !== method || path.search(match.path) < 0) continue;
      fault.hits++;
      if (--fault.left <= 0) this.#active.delete(fault);
      return fault.answer;
    }
    return undefined;
  }
}

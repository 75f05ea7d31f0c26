/** What a request needs beside the API server is not there for now. */

/** Who is away. */
export type Absentee = "issuer" | "bus";

const reasons = { issuer: "IssuerAway", bus: "BusAway" } as const;

/** Somebody does not answer, or not as they should: nothing is lost by it, and the same request works later. */
export class AwayError extends Error {
  override readonly name = "AwayError";
  readonly who: Absentee;
  /** A word for code. */
  readonly reason: (typeof reasons)[Absentee];

  constructor(who: Absentee, message: string, options?: ErrorOptions) {
    super(message, options);
    this.who = who;
    this.reason = reasons[who];
  }
}

/** Errors for a dependency of the dashboard, other than the API server, that is unavailable. */

/** The unavailable dependency. */
export type Absentee = "issuer" | "bus";

const reasons = { issuer: "IssuerAway", bus: "BusAway" } as const;

/** A dependency does not answer, or answers with an error. Nothing is lost, and the same request works later. */
export class AwayError extends Error {
  override readonly name = "AwayError";
  readonly who: Absentee;
  /** For code. */
  readonly reason: (typeof reasons)[Absentee];

  constructor(who: Absentee, message: string, options?: ErrorOptions) {
    super(message, options);
    this.who = who;
    this.reason = reasons[who];
  }
}

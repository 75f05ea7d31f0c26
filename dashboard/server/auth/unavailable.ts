/** Errors for a dependency of the dashboard, other than the API server, that is unavailable. */

/** The unavailable dependency. */
export type Dependency = "issuer" | "bus";

const reasons = { issuer: "IssuerUnavailable", bus: "BusUnavailable" } as const;

/**
 * A dependency does not answer, or answers with an error. Nothing is lost, and the same request works later. The message is for users:
 * the cause, which may name internal addresses, is only logged.
 */
export class UnavailableError extends Error {
  override readonly name = "UnavailableError";
  readonly dependency: Dependency;
  /** For code. */
  readonly reason: (typeof reasons)[Dependency];

  constructor(dependency: Dependency, message: string, options?: ErrorOptions) {
    super(message, options);
    this.dependency = dependency;
    this.reason = reasons[dependency];
  }
}

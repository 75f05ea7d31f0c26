/** What the bus does not let its user do, as an error that says who wanted what. */
import { errors, type NatsConnection, type PermissionViolationError } from "@nats-io/transport-node";

/** The server refuses to let this connection's user publish on a subject, or subscribe to it. */
export class BusPermissionError extends Error {
  override readonly name = "BusPermissionError";
  readonly operation: "publish" | "subscription";
  readonly subject: string;
  constructor(user: string, violation: PermissionViolationError) {
    const { operation, subject } = violation;
    const what = operation === "publish" ? "publish on" : "subscribe to";
    super(
      `the bus does not let ${user} ${what} "${subject}". Is this process started with the role that is meant for it, ` +
        "and are the users of the NATS servers (authorization.conf) those of this version?",
      { cause: violation },
    );
    this.operation = operation;
    this.subject = subject;
  }
}

/** The refusal behind an error, if that is what it is about: the client library wraps it where it answers a question. */
export function violationIn(error: unknown): PermissionViolationError | undefined {
  const wrapped = error instanceof errors.RequestError || error instanceof BusPermissionError;
  const cause = wrapped ? error.cause : error;
  return cause instanceof errors.PermissionViolationError ? cause : undefined;
}

/** The error as one that says who was refused, if it tells of a refusal; otherwise as it is. */
export function withUser(user: string, error: unknown): unknown {
  const violation = violationIn(error);
  return violation === undefined || error instanceof BusPermissionError
    ? error
    : new BusPermissionError(user, violation);
}

/**
 * Calls back for each refusal. The server tells of them beside the answers, naming nothing but the subject: of two
 * questions on one subject it can not be known which was refused, and both were.
 */
export async function watchDenials(
  nc: NatsConnection,
  user: string,
  each: (denied: BusPermissionError) => void,
): Promise<void> {
  for await (const status of nc.status()) {
    if (status.type !== "error") continue;
    const { error } = status;
    if (error instanceof errors.PermissionViolationError) each(new BusPermissionError(user, error));
  }
}

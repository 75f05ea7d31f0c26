/** Permission violations on the bus, as errors that name the user and the subject. */
import { errors, type NatsConnection, type PermissionViolationError } from "@nats-io/transport-node";

/** The server denies this connection's user a publish or a subscription. */
export class BusPermissionError extends Error {
  override readonly name = "BusPermissionError";
  readonly operation: "publish" | "subscription";
  readonly subject: string;
  constructor(user: string, violation: PermissionViolationError) {
    const { operation, subject } = violation;
    const what = operation === "publish" ? "publish on" : "subscribe to";
    super(
      `${user} may not ${what} "${subject}" on the bus. Check that this process uses the credentials of its role, ` +
        "and that the users of the NATS servers (authorization.conf) are from this version.",
      { cause: violation },
    );
    this.operation = operation;
    this.subject = subject;
  }
}

/** Finds the permission violation in an error or its cause: the client library wraps errors of requests. */
export function violationIn(error: unknown): PermissionViolationError | undefined {
  const wrapped = error instanceof errors.RequestError || error instanceof BusPermissionError;
  const cause = wrapped ? error.cause : error;
  return cause instanceof errors.PermissionViolationError ? cause : undefined;
}

/** Wraps a permission violation in an error that names the user. Returns other errors unchanged. */
export function withUser(user: string, error: unknown): unknown {
  const violation = violationIn(error);
  return violation === undefined || error instanceof BusPermissionError
    ? error
    : new BusPermissionError(user, violation);
}

/**
 * Calls back for each permission violation. The server reports violations separately from responses and names only the
 * subject. If two requests on one subject are in flight, both count as denied, because either may be meant.
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

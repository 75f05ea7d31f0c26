/** Errors of calls to a control plane. */
import type { ConnectError } from "@connectrpc/connect";
import { BlockedError, type Condition, isDistrust } from "denrei";
import { type Bounds, growingInterval, minute } from "../intervals.ts";
import { broken, Code, codeName } from "./codes.ts";

/** A call failed, or its answer was lost. */
export class PipecdError extends Error {
  override readonly name = "PipecdError";
  /** https://grpc.io/docs/guides/status-codes/ */
  readonly code: number;
  readonly method: string;
  constructor(method: string, error: ConnectError) {
    // Remove OpenSSL's thread number, so that the same error always has the same message.
    const message = error.rawMessage.replace(/\b[0-9A-F]{8,}:error:/, "error:");
    super(`${method}: ${codeName(error.code)}: ${message}`, { cause: error });
    this.code = error.code;
    this.method = method;
  }
}

/** The answer; undefined if PipeCD answers NotFound. */
export async function unlessNotFound<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof PipecdError && error.code === Code.NotFound) return undefined;
    throw error;
  }
}

const soon: Bounds = { least: 2_000, most: minute };
/** For errors that the user has to fix in PipeCD, which does not report changes. */
const late: Bounds = { least: minute, most: 10 * minute };

const credentialHint =
  ". The project must be in the configuration of the ControlPlane. An API key must be enabled, READ_WRITE, and of this project.";

/**
 * A server whose stores are unavailable answers Unauthenticated or PermissionDenied, so both are retried as early as an internal
 * error.
 */
const reasons: Readonly<Partial<Record<number, readonly [reason: string, interval: Bounds, hint?: string]>>> =
  {
    ...Object.fromEntries(broken.map((code) => [code, ["ServerUnavailable", soon]])),
    [Code.DeadlineExceeded]: ["ServerUnavailable", soon],
    [Code.Unauthenticated]: ["Unauthenticated", soon, credentialHint],
    [Code.PermissionDenied]: ["PermissionDenied", soon, credentialHint],
    [Code.InvalidArgument]: ["InvalidArgument", late],
    [Code.NotFound]: ["NotFound", late],
    [Code.FailedPrecondition]: ["FailedPrecondition", late],
    [Code.Unimplemented]: ["Unimplemented", late],
  };

/** Turns the error into a `BlockedError`. Its retry interval is the time since `failingSince`, within bounds, so it doubles. */
export function blockedBy(error: PipecdError, failingSince: number | undefined, now: number): BlockedError {
  const [reason, interval, hint = ""] = reasonOf(error);
  return new BlockedError(
    reason,
    `PipeCD: ${error.message}${hint}`,
    growingInterval(interval, failingSince, now),
    {
      cause: error,
    },
  );
}

function reasonOf(error: PipecdError): readonly [reason: string, interval: Bounds, hint?: string] {
  const { code } = error;
  if (isCausedBy(error, isDistrust)) return ["ServerNotTrusted", soon, trustHint];
  if (isCausedBy(error, isNoTls)) return ["TLSMismatch", soon, tlsHint];
  return reasons[code] ?? ["ServerError", soon];
}

const tlsHint = ". The server does not speak TLS: set insecure: true to connect in plain text.";
const trustHint =
  ". Its certificate must be issued by the authority in ca.crt of the ControlPlane's spec.tls, or by one that the worker's system trusts.";

/** Whether the answer was not TLS, by codes of Node and OpenSSL. */
const isNoTls = (error: Error): boolean =>
  /^(EPROTO|ERR_SSL_)/.test((error as NodeJS.ErrnoException).code ?? "");

function isCausedBy(error: Error, is: (cause: Error) => boolean): boolean {
  for (let cause: unknown = error.cause; cause instanceof Error; cause = cause.cause)
    if (is(cause)) return true;
  return false;
}

/** When a condition took the given status; undefined if it has another one. Milliseconds since the epoch. */
export function since(
  conditions: readonly Condition[] | undefined,
  type: string,
  status: Condition["status"],
): number | undefined {
  const found = conditions?.find((condition) => condition.type === type && condition.status === status);
  return found && Date.parse(found.lastTransitionTime);
}

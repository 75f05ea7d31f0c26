/** What a control plane answers when it does not do as it was asked. */
import { Code, ConnectError } from "@connectrpc/connect";
import { isDistrust } from "../../../bus/kube/errors.ts";
import type { Condition } from "../../../bus/kube/object.ts";
import { BlockedError } from "../../../bus/worker/errors.ts";
import { broken } from "./connections.ts";

/** A call that failed, or whose answer was lost. */
export class PipecdError extends Error {
  override readonly name = "PipecdError";
  /** https://grpc.io/docs/guides/status-codes/ */
  readonly code: Code;
  readonly method: string;
  constructor(method: string, error: ConnectError) {
    // OpenSSL begins with the number of a thread: the same trouble is to be told in the same words.
    const told = error.rawMessage.replace(/\b[0-9A-F]{8,}:error:/, "error:");
    super(`${method}: ${codeName(error.code)}: ${told}`, { cause: error });
    this.code = error.code;
    this.method = method;
  }
}

const codeName = (code: Code): string => Code[code] ?? `code ${code}`;

/** Runs a call, and says which one it was when it fails. */
export async function called<T>(method: string, call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw new PipecdError(method, ConnectError.from(error));
  }
}

/** The answer, or undefined when there is no such thing. */
export async function unlessNotFound<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof PipecdError && error.code === Code.NotFound) return undefined;
    throw error;
  }
}

/** Waits between tries. Milliseconds. */
interface Pace {
  readonly least: number;
  readonly most: number;
}

const soon: Pace = { least: 2_000, most: 60_000 };
/** Somebody has to change something, and nobody tells when. */
const late: Pace = { least: 60_000, most: 600_000 };

const whatIsTaken =
  ". The project has to be in the configuration of the ControlPlane. An API key has to be enabled, READ_WRITE, and of this project.";

/**
 * A server whose stores are away answers as if it did not know whoever asks, so these two are tried again as soon as an
 * internal error is.
 */
const reasons: Readonly<Partial<Record<Code, readonly [reason: string, pace: Pace, hint?: string]>>> = {
  ...Object.fromEntries(broken.map((code) => [code, ["ServerUnavailable", soon]])),
  [Code.DeadlineExceeded]: ["ServerUnavailable", soon],
  [Code.Unauthenticated]: ["Unauthenticated", soon, whatIsTaken],
  [Code.PermissionDenied]: ["PermissionDenied", soon, whatIsTaken],
  [Code.InvalidArgument]: ["InvalidArgument", late],
  [Code.NotFound]: ["NotFound", late],
  [Code.FailedPrecondition]: ["FailedPrecondition", late],
  [Code.Unimplemented]: ["Unimplemented", late],
};

/** The error as its object's owner reads it. Waits as long as the trouble has lasted, so that it is asked ever more seldom. */
export function blockedBy(error: PipecdError, troubledSince: number | undefined, now: number): BlockedError {
  const [reason, pace, hint = ""] = reasonOf(error);
  return new BlockedError(reason, `PipeCD: ${error.message}${hint}`, paced(pace, troubledSince, now), {
    cause: error,
  });
}

function reasonOf(error: PipecdError): readonly [reason: string, pace: Pace, hint?: string] {
  const { code } = error;
  if (isCausedBy(error, isDistrust)) return ["ServerNotTrusted", soon, whomToTrust];
  if (isCausedBy(error, isNoTls)) return ["TLSMismatch", soon, whoSpeaksTls];
  return reasons[code] ?? ["ServerError", soon];
}

const whoSpeaksTls = ". What answers there does not speak TLS: insecure: true is for that.";
const whomToTrust =
  ". Its certificate has to be of the authority in ca.crt of the ControlPlane's spec.tls, or of one that the worker's system trusts.";

/** An answer that is no TLS: codes of Node and of OpenSSL. */
const isNoTls = (error: Error): boolean =>
  /^(EPROTO|ERR_SSL_)/.test((error as NodeJS.ErrnoException).code ?? "");

function isCausedBy(error: Error, is: (cause: Error) => boolean): boolean {
  for (let cause: unknown = error.cause; cause instanceof Error; cause = cause.cause)
    if (is(cause)) return true;
  return false;
}

/** Doubles with each try: as long as it has lasted, within bounds. */
function paced({ least, most }: Pace, since: number | undefined, now: number): number {
  return Math.min(most, Math.max(least, since === undefined ? 0 : now - since));
}

/** When a condition took the status that it has. Milliseconds since the epoch. */
export function since(
  conditions: readonly Condition[] | undefined,
  type: string,
  status: Condition["status"],
): number | undefined {
  const found = conditions?.find((condition) => condition.type === type && condition.status === status);
  return found && Date.parse(found.lastTransitionTime);
}

/**
 * Status codes of gRPC, as in `@connectrpc/connect`, which only a call loads: https://grpc.io/docs/guides/status-codes/
 */
export const Code = {
  Canceled: 1,
  Unknown: 2,
  InvalidArgument: 3,
  DeadlineExceeded: 4,
  NotFound: 5,
  AlreadyExists: 6,
  PermissionDenied: 7,
  ResourceExhausted: 8,
  FailedPrecondition: 9,
  Aborted: 10,
  OutOfRange: 11,
  Unimplemented: 12,
  Internal: 13,
  Unavailable: 14,
  DataLoss: 15,
  Unauthenticated: 16,
} as const;
export type Code = (typeof Code)[keyof typeof Code];

const names = new Map<number, string>(Object.entries(Code).map(([name, code]) => [code, name]));

/** The name of a code, as messages have it. */
export const codeName = (code: number): string => names.get(code) ?? `code ${code}`;

/** Codes of broken connections: refused, reset, and closed. */
export const broken: readonly number[] = [Code.Unavailable, Code.Aborted, Code.Canceled];

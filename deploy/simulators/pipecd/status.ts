/** How calls end: the codes of gRPC, and what is thrown to end one. https://grpc.io/docs/guides/status-codes/ */

export const ok = 0;
export const invalidArgument = 3;
export const notFound = 5;
export const permissionDenied = 7;
export const resourceExhausted = 8;
export const unimplemented = 12;
export const internal = 13;
export const unavailable = 14;
export const unauthenticated = 16;

/** Ends a call with a status that is no success. */
export class RpcError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Ends the process of the server: a panic that nothing recovers from. The caller gets no answer at all. */
export class Panic extends Error {}

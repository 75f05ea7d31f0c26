/** gRPC status codes and the errors that end calls. https://grpc.io/docs/guides/status-codes/ */

export const ok = 0;
export const invalidArgument = 3;
export const notFound = 5;
export const permissionDenied = 7;
export const resourceExhausted = 8;
export const unimplemented = 12;
export const internal = 13;
export const unavailable = 14;
export const unauthenticated = 16;

/** Ends a call with an error status. */
export class RpcError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Ends the server process, like an unrecovered panic in Go. The caller gets no response. */
export class Panic extends Error {}

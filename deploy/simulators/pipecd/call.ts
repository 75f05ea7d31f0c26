/** Calls to the simulated control plane, and how each one ends. */
import type { JsonValue } from "@bufbuild/protobuf";

/** A call that was made, whatever came of it. */
export interface Call {
  /** In milliseconds since the epoch. */
  readonly at: number;
  /** The full name: grpc.service.webservice.WebService. */
  readonly service: string;
  readonly method: string;
  /** The project of a caller who was let in. */
  readonly project: string | undefined;
  /** As protobuf's JSON; undefined when it could not be read. */
  readonly request: JsonValue | undefined;
  readonly code: number;
  readonly message: string;
}

/** What a caller gets. */
export interface Answer {
  readonly code: number;
  readonly message: string;
  readonly body?: Uint8Array;
}

/** Without an answer, the connection is reset, or it ends, as it does when the process ends. */
export type Outcome = Answer | "reset" | "ended";

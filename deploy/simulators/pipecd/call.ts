/** Calls to the simulated control plane, and their outcomes. */
import type { JsonValue } from "@bufbuild/protobuf";

/** A recorded call. */
export interface Call {
  /** In milliseconds since the epoch. */
  readonly at: number;
  /** The full name: grpc.service.webservice.WebService. */
  readonly service: string;
  readonly method: string;
  /** The project of an authenticated caller. */
  readonly project: string | undefined;
  /** Protobuf JSON; undefined if the request could not be decoded. */
  readonly request: JsonValue | undefined;
  readonly code: number;
  readonly message: string;
}

/** A response. */
export interface Answer {
  readonly code: number;
  readonly message: string;
  readonly body?: Uint8Array;
}

/** A response, or a connection that is reset, or closed because the process ended. */
export type Outcome = Answer | "reset" | "ended";

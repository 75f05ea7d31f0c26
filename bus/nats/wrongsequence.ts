/** The error of a failed compare-and-set. */
import { JetStreamApiError } from "@nats-io/jetstream";

/** Wrong last sequence. A replicated stream omits the number while the other write is in progress. */
const wrongSequence = [10071, 10164];

/** A conditional write was rejected, because another client wrote first. */
export const isWrongSequence = (error: unknown): boolean =>
  error instanceof JetStreamApiError && wrongSequence.includes(error.code);

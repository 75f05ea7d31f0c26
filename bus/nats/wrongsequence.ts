/** Losing a compare-and-set. */
import { JetStreamApiError } from "@nats-io/jetstream";

/** Wrong last sequence; a replicated stream says it without the number while the other write is still under way. */
const wrongSequence = [10071, 10164];

/** A conditional write was refused because somebody else has written meanwhile. */
export const isOvertaken = (error: unknown): boolean =>
  error instanceof JetStreamApiError && wrongSequence.includes(error.code);

/** Replaces the last message on a subject, for streams in which functions may publish but not delete. */
import type { Bus } from "../nats/connect.ts";
import { isWrongSequence } from "../nats/wrongsequence.ts";
import { publishUntilAnswered } from "./publish.ts";

/**
 * TTL of the empty message that replaces a removed one: the shortest that NATS allows. Functions may not delete or purge,
 * because their dead letters share one stream. NATS duration text.
 */
export const emptyTtl = "1s";

/** Replaces the subject's last message, which has this sequence (0: none), unless another client was faster. */
export async function replaceLast(
  bus: Pick<Bus, "inbox" | "stuck">,
  subject: string,
  sequence: number,
  text: string,
  ttl: string | undefined,
  signal?: AbortSignal,
): Promise<"replaced" | "overtaken"> {
  try {
    await publishUntilAnswered(bus, subject, text, { lastSubjectSequence: sequence, ttl, signal });
    return "replaced";
  } catch (error) {
    if (!isWrongSequence(error)) throw error;
    return "overtaken";
  }
}

/** Replacing the last message on a subject of a stream in which functions may publish, but not delete. */
import type { Bus } from "../nats/connect.ts";
import { isOvertaken } from "../nats/wrongsequence.ts";
import { publishUntilAnswered } from "./publish.ts";

/**
 * How long the empty message stays that is put in place of one that is taken away: the shortest that there is. Deleting
 * and purging are not for functions, whose letters all lie in one stream. NATS duration text.
 */
export const emptyTtl = "1s";

/** Replaces the message of that sequence (0: none), unless somebody else has. */
export async function replaceLast(
  bus: Pick<Bus, "inbox" | "stuck">,
  subject: string,
  sequence: number,
  text: string,
  ttl: string,
  signal?: AbortSignal,
): Promise<"replaced" | "overtaken"> {
  try {
    await publishUntilAnswered(bus, subject, text, { lastSubjectSequence: sequence, ttl, signal });
    return "replaced";
  } catch (error) {
    if (!isOvertaken(error)) throw error;
    return "overtaken";
  }
}

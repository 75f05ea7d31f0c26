/** Deletes single messages of a stream. */
import type { Bus } from "../nats/connect.ts";

/** Deletes a message by its sequence. Never rejects: a message that remains only costs a needless reconcile. */
export async function deleteMessage(
  { inbox }: Pick<Bus, "inbox">,
  stream: string,
  sequence: number,
): Promise<void> {
  const request = JSON.stringify({ seq: sequence, no_erase: true });
  await inbox.request(`$JS.API.STREAM.MSG.DELETE.${stream}`, request).catch(() => undefined);
}

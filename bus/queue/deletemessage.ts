/** Taking single messages away. */
import type { Bus } from "../nats/connect.ts";

/** Takes a message away by its sequence, if it is there still. Never rejects: one that stays costs a needless reconcile. */
export async function deleteMessage(
  { inbox }: Pick<Bus, "inbox">,
  stream: string,
  sequence: number,
): Promise<void> {
  const what = JSON.stringify({ seq: sequence, no_erase: true });
  await inbox.request(`$JS.API.STREAM.MSG.DELETE.${stream}`, what).catch(() => undefined);
}

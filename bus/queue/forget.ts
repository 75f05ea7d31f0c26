/** Taking single messages away from a function's timers. */
import type { Bus } from "../connect.ts";
import { timersStream } from "../subjects.ts";

/**
 * Takes a mark or a timer away by its sequence, if it is there still. Never rejects: one that stays falls due, and a needless
 * reconcile is all it costs.
 */
export async function forget({ inbox }: Pick<Bus, "inbox">, fn: string, sequence: number): Promise<void> {
  const what = JSON.stringify({ seq: sequence, no_erase: true });
  await inbox.request(`$JS.API.STREAM.MSG.DELETE.${timersStream(fn)}`, what).catch(() => undefined);
}

/** History of images. Pure. */
import { timeText } from "denrei/kinds";
import type { Application } from "../kinds/application.ts";

type History = NonNullable<NonNullable<Application["status"]>["history"]>;

/** Number of kept images. */
const historyLimit = 10;

/**
 * The images that have run, each once, with the current one first. When a later revision results in the same image, the entry gets
 * that revision.
 */
export function historyWith(
  before: History,
  now: { readonly image: string; readonly revision: string | undefined; readonly time: Date },
): History {
  const { image, revision } = now;
  const [newest, ...older] = before;
  if (newest?.image === image) {
    return revision === undefined || newest.revision === revision
      ? before
      : [{ ...newest, revision }, ...older];
  }
  const time = timeText(now.time);
  const entry = { image, ...(revision !== undefined && { revision }), time };
  return [entry, ...before.filter((old) => old.image !== image)].slice(0, historyLimit);
}

/** The images that have run. Pure. */
import type { Application } from "../kinds/application.ts";

type History = NonNullable<NonNullable<Application["status"]>["history"]>;

/** So many are kept. */
const historyLimit = 10;

/**
 * The images that have run, with the one that runs now first and each of them once. The same image may come of a later
 * revision: then it is that one that runs.
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
  const time = now.time.toISOString().replace(/\.\d+Z$/, "Z");
  const entry = { image, ...(revision !== undefined && { revision }), time };
  return [entry, ...before.filter((old) => old.image !== image)].slice(0, historyLimit);
}

/** Settles the marks of a key, after its ticket is acknowledged. */
import { isCovered, type Mark, type Seen, type TicketQueue } from "../queue/queue.ts";
import { countMergeable, mergeRequests, type Request } from "../queue/request.ts";
import type { Job } from "./job.ts";

/** Time limit, so that an unreachable bus does not occupy the worker's slot. Remaining marks fall due anyway. Milliseconds. */
const longestMillis = 30_000;

/**
 * Requests the changes that the reconcile has not seen, then drops the marks. If another worker already owns the key, the marks
 * remain for it to settle.
 */
export async function settleMarks(
  queue: TicketQueue,
  { key, span }: Pick<Job, "key"> & Partial<Job>,
  seen: Seen,
): Promise<void> {
  const marks = await queue.marks(key);
  if (marks.length === 0) return;
  const { open = [], covered = [] } = Object.groupBy(marks, ({ request }) =>
    isCovered(request, seen) ? "covered" : "open",
  );
  span?.link(...covered.map(({ request }) => request.traceparent));
  const merged = open.slice(0, countMergeable(open.map(({ request }) => request)));
  const request = oneRequest(merged.map(({ request }) => request));
  if (request !== undefined) {
    const signal = AbortSignal.timeout(longestMillis);
    if ((await queue.requestUnlessOwned(key, request, signal)) === "owned") return;
  }
  // Marks that did not fit into the request remain for the next owner, which has read more by then.
  await queue.dropMarks(key, upTo(open[merged.length], marks));
}

function oneRequest([first, ...rest]: readonly Request[]): Request | undefined {
  return first === undefined || rest.length === 0 ? first : mergeRequests(first, rest);
}

/** The marks before `end`; all of them without it. */
const upTo = (end: Mark | undefined, marks: readonly Mark[]): readonly Mark[] =>
  end === undefined ? marks : marks.filter(({ sequence }) => sequence < end.sequence);

/** Events about changes of previews since the status was last written. Pure. */
import type { Preview } from "../kinds/apppipeline.ts";

/** A Kubernetes Event to record. */
export interface PreviewEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly note: string;
}

const shown = (preview: Preview | undefined): boolean => preview?.application !== undefined;

/** Events for previews that were created, became ready, failed, or were deleted. */
export function previewEvents(
  before: readonly Preview[],
  after: readonly Preview[],
): readonly PreviewEvent[] {
  const [old, now] = [before, after].map((all) => new Map(all.map((preview) => [preview.number, preview])));
  const made = after.flatMap((preview) => eventsOfPreview(old?.get(preview.number), preview));
  const gone = before
    .filter((preview) => shown(preview) && !shown(now?.get(preview.number)))
    .map(
      ({ number, application }): PreviewEvent => ({
        type: "Normal",
        reason: "PreviewRemoved",
        note: `deleted ${application} of #${number}`,
      }),
    );
  return [...made, ...gone];
}

function eventsOfPreview(before: Preview | undefined, preview: Preview): readonly PreviewEvent[] {
  const { number, application, phase, url, message } = preview;
  const made: PreviewEvent[] =
    shown(preview) && !shown(before)
      ? [{ type: "Normal", reason: "PreviewMade", note: `created ${application} for #${number}` }]
      : [];
  const sha = preview.headSHA.slice(0, 12);
  if (preview.warning !== undefined && before?.warning === undefined)
    made.push({
      type: "Warning",
      reason: "PreviewWarning",
      note: `#${number} keeps running ${sha}: ${preview.warning}`.slice(0, 1000),
    });
  if (before?.phase === phase && before.headSHA === preview.headSHA) return made;
  if (phase === "Ready")
    return [
      ...made,
      { type: "Normal", reason: "PreviewReady", note: `#${number} is ready with ${sha}: ${url}` },
    ];
  if (phase === "Failed")
    return [
      ...made,
      { type: "Warning", reason: "PreviewFailed", note: `#${number} has no preview of ${sha}: ${message}` },
    ];
  return made;
}

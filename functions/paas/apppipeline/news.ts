/** What has become of previews since the status was written last, for whoever looks at the pipeline's Events. Pure. */
import type { Preview } from "../kinds/apppipeline.ts";

/** An Event that is to be recorded. */
export interface News {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly note: string;
}

const shown = (preview: Preview | undefined): boolean => preview?.application !== undefined;

/** Previews that are made, ready, failed or gone now, and were not so before. */
export function newsOf(before: readonly Preview[], after: readonly Preview[]): readonly News[] {
  const [old, now] = [before, after].map((all) => new Map(all.map((preview) => [preview.number, preview])));
  const made = after.flatMap((preview) => newsOfOne(old?.get(preview.number), preview));
  const gone = before
    .filter((preview) => shown(preview) && !shown(now?.get(preview.number)))
    .map(
      ({ number, application }): News => ({
        type: "Normal",
        reason: "PreviewRemoved",
        note: `took away ${application} of #${number}`,
      }),
    );
  return [...made, ...gone];
}

function newsOfOne(before: Preview | undefined, preview: Preview): readonly News[] {
  const { number, application, phase, url, message } = preview;
  const made: News[] =
    shown(preview) && !shown(before)
      ? [{ type: "Normal", reason: "PreviewMade", note: `made ${application} for #${number}` }]
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

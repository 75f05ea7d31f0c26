/** Compares previews with the records, and creates the pieces to report. */
import type { Preview } from "../kinds/apppipeline.ts";
import { commentPieces } from "./commentpieces.ts";
import { deploymentPieces, inactivation } from "./deploymentpieces.ts";
import { due, type Piece, type Subject } from "./piece.ts";
import type { Notes } from "./record.ts";
import { type DesiredStatus, desiredStatuses, reassignStatuses } from "./statuses.ts";
import { statusPieces } from "./statuspieces.ts";
import { closingComment, commentOf, reportedSHA, stageOf } from "./text.ts";

/**
 * The pieces of open and of deleted previews. `all` has the record of each. Records of statuses are moved to the pull request that
 * now maintains the status.
 */
export function piecesOf(
  subject: Subject,
  previews: readonly Preview[],
  all: ReadonlyMap<number, Notes>,
  now: Date,
): Piece[] {
  const { commitStatus = true } = subject.pipeline.spec.report ?? {};
  const given = [...all.values()].flatMap(({ statuses = [] }) => statuses);
  const desired = desiredStatuses(subject.context, commitStatus ? previews : [], given);
  reassignStatuses(all, desired);
  const open = new Set(previews.map(({ number }) => number));
  const gone = [...all.values()].filter(({ number }) => !open.has(number));
  return due(now, [
    ...gone.flatMap((notes) => closingPieces(subject, notes)),
    ...previews.flatMap((preview) =>
      openPieces(subject, preview, all.get(preview.number) as Notes, desired.get(preview.number) ?? []),
    ),
  ]);
}

function openPieces(
  subject: Subject,
  preview: Preview,
  notes: Notes,
  desired: readonly DesiredStatus[],
): Piece[] {
  const { pipeline, context } = subject;
  const { deployment = false, comment = true } = pipeline.spec.report ?? {};
  // A preview that never existed needs no comment about its end.
  const isSilent = stageOf(preview) === "gone" && notes.comment === undefined;
  return [
    ...statusPieces(subject, desired, notes, reportedSHA(preview)),
    ...(deployment ? deploymentPieces(subject, preview, notes) : inactivation(notes)),
    ...(comment && !isSilent ? commentPieces(commentOf(pipeline, context, preview), notes) : []),
  ];
}

/** The pieces of a deleted preview. */
export const closingPieces = (subject: Subject, notes: Notes): Piece[] => [
  ...statusPieces(subject, [], notes, undefined),
  ...inactivation(notes),
  ...(notes.comment === undefined
    ? []
    : commentPieces(closingComment(subject.pipeline, subject.context, notes.number), notes)),
];

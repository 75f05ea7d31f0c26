/** Maintains the comment on a pull request: one comment, edited in place. */
import { digestOf } from "denrei";
import { former, markerOf } from "./names.ts";
import { isOwn, type Piece, type SendContext, unlessGone } from "./piece.ts";
import type { Notes, Report } from "./record.ts";

/** The update of the comment, if its text has changed. */
export function commentPieces(body: string, notes: Notes): Piece[] {
  const digest = digestOf([body], 16);
  if (notes.commentText === digest) return [];
  return [
    {
      name: "comment",
      notes,
      async send(target) {
        notes.comment = await keepComment(body, notes, target);
        notes.commentText = digest;
      },
    },
  ];
}

/** Edits the comment. If its id is unknown or the comment was deleted, finds it by its marker or creates it. */
async function keepComment(body: string, { number, comment }: Report, target: SendContext): Promise<number> {
  const { client, signal } = target;
  if (comment !== undefined) {
    const edited = await client.updateComment(comment, body, signal).catch(unlessGone);
    if (edited !== undefined) return edited.id;
  }
  const found = await ownComment(number, target);
  if (found !== undefined) return (await client.updateComment(found, body, signal)).id;
  return (await client.createComment(number, body, signal)).id;
}

/** The comment with the marker, if the token's account wrote it. The marker is public: any user can write one. */
async function ownComment(number: number, target: SendContext): Promise<number | undefined> {
  const { pipeline, context, client, signal } = target;
  const markers = [markerOf(context, number), former.markerOf(pipeline)];
  for await (const comment of client.comments(number, signal)) {
    const isMarked = markers.some((marker) => comment.body.startsWith(marker));
    if (isMarked && (await isOwn(comment, target))) return comment.id;
  }
  return undefined;
}

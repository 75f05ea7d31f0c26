/** Reports of deleted previews: how long refused ones are retried, and when the record is dropped. Pure. */
import { timeText } from "denrei/kinds";
import type { Piece, Subject } from "./piece.ts";
import { closingPieces } from "./pieces.ts";
import type { Notes } from "./record.ts";
import type { Outcome } from "./send.ts";

/** How long refused reports of a deleted preview are retried. Milliseconds. */
const longestMillis = 86_400_000;

/** Minimum size of a portion. After a crash a portion may be sent twice, so it is small. */
const minPieces = 20;

/** The next portion: all pieces of some pull requests, so that one round shows which of them are refused. */
export function portionOf(pieces: readonly Piece[]): Piece[] {
  const numbers = new Set(pieces.slice(0, minPieces).map(({ notes }) => notes.number));
  return pieces.filter(({ notes }) => numbers.has(notes.number));
}

/** Pull requests whose last report GitHub refused. */
export interface RefusedClosings {
  /** Refused for the first time: retried for a day. */
  readonly postponed: readonly number[];
  /** Refused for the last time. */
  readonly givenUp: readonly number[];
}

/**
 * Drops records of deleted previews once their reports are complete or were refused for a day. When the pipeline is deleted, one
 * refusal is enough.
 */
export function dropDeleted(
  all: Map<number, Notes>,
  open: ReadonlySet<number>,
  subject: Subject,
  { stopped, refused }: Outcome,
  now: Date,
): RefusedClosings {
  const isDeleted = subject.pipeline.metadata.deletionTimestamp !== undefined;
  const postponed: number[] = [];
  const givenUp: number[] = [];
  for (const notes of [...all.values()]) {
    const { number } = notes;
    if (open.has(number)) {
      delete notes.closingUntil;
    } else if (closingPieces(subject, notes).length === 0) {
      all.delete(number);
    } else if (refused.has(number)) {
      const isLast = isDeleted
        ? stopped === undefined
        : Date.parse(notes.closingUntil ?? "") <= now.getTime();
      if (isLast) {
        all.delete(number);
        givenUp.push(number);
      } else if (!isDeleted && notes.closingUntil === undefined) {
        notes.closingUntil = timeText(now.getTime() + longestMillis);
        postponed.push(number);
      }
    }
  }
  return { postponed, givenUp };
}

const maxNumbers = 20;

/** Pull requests, formatted for an Event. */
export function numbersText(numbers: readonly number[]): string {
  const shown = numbers.slice(0, maxNumbers).map((number) => `#${number}`);
  const more = numbers.length - shown.length;
  return [...shown, ...(more > 0 ? [`${more} more`] : [])].join(", ");
}

/** Reports commit statuses. */
import type { CommitStatus } from "denrei/github";
import { former } from "./names.ts";
import { type Piece, type Subject, unlessGone } from "./piece.ts";
import type { Notes } from "./record.ts";
import { type DesiredStatus, isSame, recordOf, type SetStatus, statusDigest } from "./statuses.ts";
import { endedState } from "./text.ts";

const name = "commitStatus";

/** Changes of the statuses that a pull request maintains. `sha`: its current commit; undefined for a deleted preview. */
export function statusPieces(
  subject: Subject,
  desired: readonly DesiredStatus[],
  notes: Notes,
  sha: string | undefined,
): Piece[] {
  const given = notes.statuses ?? [];
  const ended = given.filter((one) => one.pending && !desired.some((status) => isSame(one, status)));
  const changed = desired.filter(
    (status) => given.find((one) => isSame(one, status))?.digest !== statusDigest(status),
  );
  return [
    ...formerPieces(subject, desired, notes, sha),
    ...ended.map((one) => endingPiece(one, notes, sha)),
    ...changed.map((status) => statusPiece(status, notes)),
  ];
}

const statusPiece = (desired: DesiredStatus, notes: Notes): Piece => ({
  name,
  notes,
  async send({ client, signal }) {
    await client.createStatus(desired.sha, desired.status, signal);
    note(notes, desired, recordOf(desired));
  },
});

function note(notes: Notes, about: Pick<DesiredStatus, "sha" | "status">, given?: SetStatus): void {
  const others = (notes.statuses ?? []).filter((one) => !isSame(one, about));
  const statuses = given === undefined ? others : [...others, given];
  if (statuses.length > 0) notes.statuses = statuses;
  else delete notes.statuses;
}

const stateAfter = (of: string, sha: string | undefined) =>
  endedState(sha === undefined || sha === of ? "gone" : "superseded");

/** Ends a status that would otherwise stay pending. */
const endingPiece = ({ sha: of, context }: SetStatus, notes: Notes, sha: string | undefined): Piece => {
  const status: CommitStatus = { ...stateAfter(of, sha), context };
  return {
    name,
    notes,
    async send({ client, signal }) {
      await client.createStatus(of, status, signal).catch(unlessGone);
      note(notes, { sha: of, status });
    },
  };
};

/** Gives a status under a former context the same result as its successor. */
function formerPieces(
  { pipeline, context }: Subject,
  desired: readonly DesiredStatus[],
  notes: Notes,
  sha: string | undefined,
): Piece[] {
  const { pendingSHA: of } = notes;
  if (of === undefined) return [];
  const successor = desired.find((one) => one.sha === of && one.status.context === context)?.status;
  if (successor?.state === "pending") return [];
  const status = { ...(successor ?? stateAfter(of, sha)), context: former.contextOf(pipeline) };
  return [
    {
      name,
      notes,
      async send({ client, signal }) {
        await client.createStatus(of, status, signal).catch(unlessGone);
        delete notes.pendingSHA;
        delete notes.status;
      },
    },
  ];
}

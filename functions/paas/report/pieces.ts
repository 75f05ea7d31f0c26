/** The pieces of a report: each is told when it is news, and noted when it is told. */
import { digestOf } from "../../../bus/digest.ts";
import { GitHubRefusedError } from "../../../bus/github/errors.ts";
import type { GitHubRepositoryClient } from "../../../bus/github/repository.ts";
import type { Stored } from "../../../bus/kube/object.ts";
import type { AppPipeline, Preview } from "../kinds/apppipeline.ts";
import {
  closingComment,
  commentOf,
  commitStatusOf,
  deploymentStatusOf,
  endedStatus,
  environmentOf,
  markerOf,
  reportedSHA,
  stageOf,
} from "./text.ts";

/** What GitHub was told of one pull request. */
export type Report = NonNullable<NonNullable<AppPipeline["status"]>["reports"]>[number];
/** The same, while more is told. */
export type Notes = { -readonly [K in keyof Report]: Report[K] };

/** Of whose previews GitHub is told, and how. */
export interface Telling {
  readonly pipeline: Stored<AppPipeline>;
  readonly client: GitHubRepositoryClient;
  readonly signal: AbortSignal;
}

/** Something that is to be told. What was told is noted. */
export interface Piece {
  readonly name: "commitStatus" | "deployment" | "comment";
  readonly notes: Notes;
  /** Throws a `GitHubError`. */
  tell(telling: Telling): Promise<void>;
}

const digest = (...values: readonly unknown[]): string => digestOf(values, 16);

/** What is news of a preview. */
export function piecesOf(pipeline: Stored<AppPipeline>, preview: Preview, notes: Notes, now: Date): Piece[] {
  const { commitStatus = true, deployment = false, comment = true } = pipeline.spec.report ?? {};
  // Of what never had a preview there is nothing to say when it has gone.
  const isSilent = stageOf(preview) === "gone" && notes.comment === undefined;
  return due(now, [
    ...(commitStatus ? statusPieces(pipeline, preview, notes) : []),
    ...(deployment ? deploymentPieces(preview, notes) : []),
    ...(comment && !isSilent ? commentPieces(commentOf(pipeline, preview), notes) : []),
  ]);
}

/** What is to be told of a preview that is no more. */
export const closingPieces = (pipeline: Stored<AppPipeline>, notes: Notes, now: Date): Piece[] =>
  due(now, [
    ...endingPieces(pipeline, notes, "gone"),
    ...(notes.deployment === undefined ? [] : [inactivation(notes)]),
    ...(notes.comment === undefined ? [] : commentPieces(closingComment(pipeline), notes)),
  ]);

/** Without what was refused, and has yet to wait. */
const due = (now: Date, pieces: readonly Piece[]): Piece[] =>
  pieces.filter(({ name, notes: { refused } }) => {
    const until = refused?.[name];
    return until === undefined || now.getTime() >= Date.parse(until);
  });

/** Notes that a piece was refused, and when it is tried again. */
export function refuse({ name, notes }: Piece, until: Date): void {
  notes.refused = { ...notes.refused, [name]: until.toISOString().replace(/\.\d+Z$/, "Z") };
}

/** Notes that a piece is refused no more. */
export function accept({ name, notes }: Piece): void {
  const { [name]: _, ...rest } = notes.refused ?? {};
  if (Object.keys(rest).length > 0) notes.refused = rest;
  else delete notes.refused;
}

/** Notes without what was refused and may be tried again by then: milliseconds since the epoch. */
export function unrefused({ refused = {}, ...notes }: Report, by: number): Notes {
  const left = Object.entries(refused).filter(([, until]) => Date.parse(until) > by);
  return { ...notes, ...(left.length > 0 && { refused: Object.fromEntries(left) }) };
}

function statusPieces(pipeline: AppPipeline, preview: Preview, notes: Notes): Piece[] {
  const sha = reportedSHA(preview);
  const status = commitStatusOf(pipeline, preview);
  if (status === undefined) return endingPieces(pipeline, notes, "gone");
  const ending =
    notes.pendingSHA === undefined || notes.pendingSHA === sha
      ? []
      : endingPieces(pipeline, notes, "superseded");
  if (notes.status === digest(sha, status)) return ending;
  return [
    ...ending,
    {
      name: "commitStatus",
      notes,
      async tell({ client, signal }) {
        await client.createStatus(sha, status, signal);
        notes.status = digest(sha, status);
        if (status.state === "pending") notes.pendingSHA = sha;
        else delete notes.pendingSHA;
      },
    },
  ];
}

/** A status that nothing more is to come of is not left pending. */
function endingPieces(pipeline: AppPipeline, notes: Notes, why: "gone" | "superseded"): Piece[] {
  const { pendingSHA } = notes;
  if (pendingSHA === undefined) return [];
  return [
    {
      name: "commitStatus",
      notes,
      async tell({ client, signal }) {
        await client.createStatus(pendingSHA, endedStatus(pipeline, why), signal).catch(unlessGone);
        delete notes.pendingSHA;
        delete notes.status;
      },
    },
  ];
}

function deploymentPieces(preview: Preview, notes: Notes): Piece[] {
  const sha = reportedSHA(preview);
  const status = deploymentStatusOf(preview);
  if (status === undefined) return notes.deployment === undefined ? [] : [inactivation(notes)];
  if (notes.deployedSHA === sha && notes.deploymentStatus === digest(status)) return [];
  return [
    {
      name: "deployment",
      notes,
      async tell(telling) {
        const { client, pipeline, signal } = telling;
        if (notes.deployment !== undefined && notes.deployedSHA !== sha) await deactivate(notes, telling);
        if (notes.deployment === undefined) {
          const wanted = { sha, environment: environmentOf(pipeline, preview.number) };
          // Whoever made one may have died before it was noted.
          const [found] = await client.deployments(wanted, signal);
          const made = found ?? (await client.createDeployment({ ...wanted, ref: sha }, signal));
          notes.deployment = made.id;
          notes.deployedSHA = sha;
        }
        await client.setDeploymentStatus(notes.deployment, status, signal);
        notes.deploymentStatus = digest(status);
      },
    },
  ];
}

const inactivation = (notes: Notes): Piece => ({
  name: "deployment",
  notes,
  tell: (telling) => deactivate(notes, telling),
});

/** One that is gone is as good as inactive. */
async function deactivate(notes: Notes, { client, signal }: Telling): Promise<void> {
  if (notes.deployment === undefined) return;
  await client.setDeploymentStatus(notes.deployment, { state: "inactive" }, signal).catch(unlessGone);
  delete notes.deployment;
  delete notes.deployedSHA;
  delete notes.deploymentStatus;
}

function commentPieces(body: string, notes: Notes): Piece[] {
  if (notes.commentText === digest(body)) return [];
  return [
    {
      name: "comment",
      notes,
      async tell(telling) {
        notes.comment = await keepComment(body, notes, telling);
        notes.commentText = digest(body);
      },
    },
  ];
}

/** Edits the comment. Where it is not known, or somebody has deleted it, it is looked for, and made if there is none. */
async function keepComment(
  body: string,
  { number, comment }: Report,
  { pipeline, client, signal }: Telling,
): Promise<number> {
  if (comment !== undefined) {
    const edited = await client.updateComment(comment, body, signal).catch(unlessGone);
    if (edited !== undefined) return edited.id;
  }
  for await (const { id, body: found } of client.comments(number, signal)) {
    if (found.includes(markerOf(pipeline))) return (await client.updateComment(id, body, signal)).id;
  }
  return (await client.createComment(number, body, signal)).id;
}

/** A commit that is gone is answered 422. */
function unlessGone(error: unknown): undefined {
  if (!(error instanceof GitHubRefusedError && [404, 422].includes(error.status ?? 0))) throw error;
}

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
  tell(telling: Telling): Promise<void>;
}

const digest = (...values: readonly unknown[]): string => digestOf(values, 16);

/** What is news of a preview. */
export function piecesOf(pipeline: Stored<AppPipeline>, preview: Preview, notes: Notes): Piece[] {
  // Of what never had a preview there is nothing to say when it has gone.
  if (stageOf(preview) === "gone" && notes.comment === undefined && notes.deployment === undefined) return [];
  const { commitStatus = true, deployment = false, comment = true } = pipeline.spec.report ?? {};
  return [
    ...(commitStatus ? statusPieces(pipeline, preview, notes) : []),
    ...(deployment ? deploymentPieces(preview, notes) : []),
    ...(comment ? commentPieces(commentOf(pipeline, preview), notes) : []),
  ];
}

/** What is to be told of a preview that is no more. */
export const closingPieces = (pipeline: Stored<AppPipeline>, notes: Notes): Piece[] => [
  ...(notes.deployment === undefined ? [] : [{ tell: (telling: Telling) => deactivate(notes, telling) }]),
  ...(notes.comment === undefined ? [] : commentPieces(closingComment(pipeline), notes)),
];

function statusPieces(pipeline: AppPipeline, preview: Preview, notes: Notes): Piece[] {
  const sha = reportedSHA(preview);
  const status = commitStatusOf(pipeline, preview);
  if (status === undefined || notes.status === digest(sha, status)) return [];
  return [
    {
      async tell({ client, signal }) {
        await client.createStatus(sha, status, signal);
        notes.status = digest(sha, status);
      },
    },
  ];
}

function deploymentPieces(preview: Preview, notes: Notes): Piece[] {
  const sha = reportedSHA(preview);
  const status = deploymentStatusOf(preview);
  if (notes.deployedSHA === sha && notes.deploymentStatus === digest(status)) return [];
  return [
    {
      async tell(telling) {
        const { client, pipeline, signal } = telling;
        if (notes.deployment !== undefined && notes.deployedSHA !== sha) await deactivate(notes, telling);
        if (notes.deployment === undefined) {
          const environment = environmentOf(pipeline, preview.number);
          notes.deployment = (await client.createDeployment({ ref: sha, environment }, signal)).id;
          notes.deployedSHA = sha;
        }
        await client.setDeploymentStatus(notes.deployment, status, signal);
        notes.deploymentStatus = digest(status);
      },
    },
  ];
}

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

function unlessGone(error: unknown): undefined {
  if (!(error instanceof GitHubRefusedError && error.status === 404)) throw error;
}

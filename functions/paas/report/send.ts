/** Sends the pieces of a report to GitHub. */
import { BlockedError, type Context } from "denrei";
import { blockedBy, GitHubError, withGitHub } from "denrei/github";
import { repositoryOf } from "../github.ts";
import { identified, knownAs, type NamedRepository } from "../identity.ts";
import { retryMillis } from "../retry.ts";
import { siteOf } from "../site/site.ts";
import { accept, type Piece, refuse, type SendContext, type Subject } from "./piece.ts";

/** Retry interval of refused pieces. Another token causes an earlier retry. Milliseconds. */
const refusedMillis = 1_800_000;

/** How long the deletion of a pipeline waits for GitHub. Milliseconds. */
const longestDelayMillis = 60_000;

/** Whether the deletion of a pipeline, which began `sinceMillis` ago, waits for GitHub to accept the rest. */
export const delaysDeletion = (stopped: BlockedError, sinceMillis: number): boolean =>
  isTransient(stopped) && sinceMillis < longestDelayMillis;

/** Whether the error is transient. While it lasts, no other request is sent. */
const isTransient = ({ reason }: BlockedError): boolean =>
  reason === "GitHubUnreachable" || reason === "RateLimited";

/** Result of sending pieces. */
export interface Outcome {
  /** The error that prevented the rest. */
  readonly stopped?: BlockedError;
  /** Refusals by the number of the pull request. All other pieces were sent. */
  readonly refused: ReadonlyMap<number, BlockedError>;
}

/** Sends pieces one after another. A refused piece does not prevent the others. */
export async function sendPieces(pieces: readonly Piece[], subject: Subject, ctx: Context): Promise<Outcome> {
  const refused = new Map<number, BlockedError>();
  const target = pieces.length === 0 ? undefined : await openRepository(subject, ctx);
  if (target === undefined) return { refused };
  if (target instanceof BlockedError) return { stopped: target, refused };
  for (const piece of pieces) {
    ctx.assertOwned();
    try {
      await piece.send(target);
      accept(piece);
    } catch (error) {
      if (!(error instanceof GitHubError)) throw error;
      const blocked = blockedBy(error, "Token");
      if (isTransient(blocked)) return { stopped: blocked, refused };
      refuse(piece, new Date(ctx.now() + refusedMillis));
      const { number } = piece.notes;
      if (!refused.has(number)) refused.set(number, blocked);
    }
  }
  return { refused };
}

async function openRepository(subject: Subject, ctx: Context): Promise<SendContext | BlockedError> {
  const { github } = subject.pipeline.spec.base;
  const known = knownAs(github, subject.pipeline.status?.repository);
  try {
    if (known === undefined) throw notIdentified(github);
    const { config } = await siteOf(ctx);
    const client = await repositoryOf(github, config.github, "write", ctx);
    // Another repository may have taken the name since the pull requests were listed.
    identified(github, await withGitHub("Token", () => client.repository(ctx.signal)), known);
    return { ...subject, client, signal: ctx.signal };
  } catch (error) {
    if (error instanceof BlockedError) return error;
    throw error;
  }
}

const notIdentified = ({ owner, repo }: NamedRepository): BlockedError =>
  new BlockedError(
    "RepositoryUnknown",
    `the pull requests of ${owner}/${repo} have not been listed yet, so the repository's identity is unknown`,
    retryMillis,
  );

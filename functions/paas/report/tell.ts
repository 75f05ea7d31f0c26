/** Telling GitHub: piece by piece, each on its own. */
import { blockedBy, withGitHub } from "../../../bus/github/blocked.ts";
import { GitHubError } from "../../../bus/github/errors.ts";
import { BlockedError } from "../../../bus/worker/errors.ts";
import type { Context } from "../../../bus/worker/function.ts";
import { repositoryOf } from "../github.ts";
import { identified, knownAs, type NamedRepository } from "../identity.ts";
import { patience } from "../problems.ts";
import { siteOf } from "../site/site.ts";
import { accept, type Piece, refuse, type Subject, type Telling } from "./piece.ts";

/** What is refused is tried again after so long, or with another token. Milliseconds. */
const refusedMillis = 1_800_000;

/** The deletion of a pipeline waits no longer than this for GitHub. Milliseconds. */
const longestDelayMillis = 60_000;

/** Whether the deletion of a pipeline, which began `sinceMillis` ago, waits until GitHub takes the rest. */
export const delaysDeletion = (stopped: BlockedError, sinceMillis: number): boolean =>
  passes(stopped) && sinceMillis < longestDelayMillis;

/** GitHub comes back by itself: until then it is asked for nothing else either. */
const passes = ({ reason }: BlockedError): boolean =>
  reason === "GitHubUnreachable" || reason === "RateLimited";

/** What came of telling. */
export interface Outcome {
  /** What kept the rest from being told. */
  readonly stopped?: BlockedError;
  /** Refusals by the number of the pull request. All other pieces were sent. */
  readonly refused: ReadonlyMap<number, BlockedError>;
}

/** Tells pieces, one after another. What is refused keeps nothing else from being told. */
export async function tellPieces(pieces: readonly Piece[], subject: Subject, ctx: Context): Promise<Outcome> {
  const refused = new Map<number, BlockedError>();
  const telling = pieces.length === 0 ? undefined : await open(subject, ctx);
  if (telling === undefined) return { refused };
  if (telling instanceof BlockedError) return { stopped: telling, refused };
  for (const piece of pieces) {
    ctx.assertOwned();
    try {
      await piece.tell(telling);
      accept(piece);
    } catch (error) {
      if (!(error instanceof GitHubError)) throw error;
      const blocked = blockedBy(error, "Token");
      if (passes(blocked)) return { stopped: blocked, refused };
      refuse(piece, new Date(ctx.now() + refusedMillis));
      const { number } = piece.notes;
      if (!refused.has(number)) refused.set(number, blocked);
    }
  }
  return { refused };
}

async function open(subject: Subject, ctx: Context): Promise<Telling | BlockedError> {
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
    `the pull requests of ${owner}/${repo} have not been listed yet, so it is not known which repository that is`,
    patience,
  );

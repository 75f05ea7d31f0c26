/** A piece of a report. It is sent when its content has changed, and then recorded. */
import type { Stored } from "denrei";
import {
  GitHubError,
  GitHubRateLimitedError,
  GitHubRefusedError,
  type GitHubRepositoryClient,
  GitHubUnreachableError,
} from "denrei/github";
import { timeText } from "denrei/kinds";
import type { AppPipeline } from "../kinds/apppipeline.ts";
import type { Notes } from "./record.ts";

/** The pipeline whose previews are reported. */
export interface Subject {
  readonly pipeline: Stored<AppPipeline>;
  /** The context of its statuses, the prefix of all other names (`names.ts`). */
  readonly context: string;
}

/** What pieces need to be sent. */
export interface SendContext extends Subject {
  readonly client: GitHubRepositoryClient;
  readonly signal: AbortSignal;
}

/** A change to report. */
export interface Piece {
  readonly name: "commitStatus" | "deployment" | "comment";
  readonly notes: Notes;
  /** Sends the piece and records it. Throws a `GitHubError`. */
  send(target: SendContext): Promise<void>;
}

/** Pieces without those that were refused and are not due yet. */
export const due = (now: Date, pieces: readonly Piece[]): Piece[] =>
  pieces.filter(({ name, notes: { refused } }) => {
    const until = refused?.[name];
    return until === undefined || now.getTime() >= Date.parse(until);
  });

/** Records that a piece was refused, and when it is retried. */
export function refuse({ name, notes }: Piece, until: Date): void {
  notes.refused = { ...notes.refused, [name]: timeText(until) };
}

/** Records that a piece was accepted. */
export function accept({ name, notes }: Piece): void {
  const { [name]: _, ...rest } = notes.refused ?? {};
  if (Object.keys(rest).length > 0) notes.refused = rest;
  else delete notes.refused;
}

/** Ignores errors that mean that the target no longer exists: 404, and 422 for a commit. */
export function unlessGone(error: unknown): undefined {
  const isGone =
    error instanceof GitHubRefusedError &&
    [404, 422].includes(error.status ?? 0) &&
    error.reason === undefined;
  if (!isGone) throw error;
}

/** Whether the token's account is the author. False if GitHub does not name that account. */
export async function isOwn(
  { author }: { readonly author: string | undefined },
  { client, signal }: SendContext,
): Promise<boolean> {
  if (author === undefined) return false;
  try {
    return (await client.login(signal)).toLowerCase() === author.toLowerCase();
  } catch (error) {
    const passes = error instanceof GitHubUnreachableError || error instanceof GitHubRateLimitedError;
    if (passes || !(error instanceof GitHubError)) throw error;
    return false;
  }
}

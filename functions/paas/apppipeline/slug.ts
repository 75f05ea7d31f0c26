/**
 * Slugs: branch names as DNS labels, for hosts and for names of databases and objects. Two previews of a pipeline never have the
 * same slug, and a preview keeps its slug as long as its pull request is open. Pure.
 */
import { digestOf } from "denrei";
import type { Preview } from "../kinds/apppipeline.ts";
import type { Candidate } from "./select.ts";

type Branch = Pick<Candidate, "number" | "headRef" | "fork">;

const longest = 50;
const digestLength = 10;
const digested = new RegExp(`-[0-9a-f]{${digestLength}}$`);

/** The part of a branch name that a DNS label can express. It is empty for a name in another script. */
const readable = (branch: string, length: number): string =>
  branch
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, length)
    .replace(/^-+|-+$/g, "");

/** Identifies a branch: a fork's branch differs from the repository's branch of the same name. */
const textOf = ({ fork = "", headRef = "" }: Branch): string => `${fork.toLowerCase()}:${headRef}`;

/** The readable part of a branch, and a digest of the text. */
function withDigest(branch: Branch, text: string, length = digestLength): string {
  const start = readable(branch.headRef ?? "", longest - 1 - length) || "branch";
  return `${start}-${digestOf(text, length)}`;
}

/** The slug of a pull request that shares its branch with another one. A longer digest gives another slug. */
const ownSlug = (branch: Branch, length: number): string =>
  withDigest(branch, `${textOf(branch)}#${branch.number}`, length);

/**
 * A branch as a DNS label of at most 50 characters. A branch of the repository that is such a label is its own slug. All others
 * end with a digest, and so does a label that looks as if it had one, so different branches have different slugs.
 */
export function slugOf(branch: Branch): string {
  const { number, headRef, fork } = branch;
  if (headRef === undefined) return `pr-${number}-${digestOf(number, digestLength)}`;
  const isSlug = fork === undefined && headRef !== "" && readable(headRef, longest) === headRef;
  return isSlug && !digested.test(headRef) ? headRef : withDigest(branch, textOf(branch));
}

/** The slug of earlier versions. */
const formerSlug = ({ headRef = "" }: Branch): string => readable(headRef, longest);

/**
 * Adds slugs to candidates. A preview keeps its recorded slug, unless one with a lower number has the same. A preview from an
 * earlier version keeps that version's slug, if no other branch has it. Of several pull requests from one branch, the first gets
 * the slug of the branch, and the others get one with a digest of their number.
 */
export function withSlugs<T extends Candidate>(
  candidates: readonly T[],
  before: readonly Preview[],
): (T & { readonly slug: string })[] {
  const known = new Map(before.map((preview) => [preview.number, preview]));
  const former = Map.groupBy(
    before.filter(({ slug, application }) => slug === undefined && application !== undefined),
    formerSlug,
  );
  const kept = (one: T): string | undefined => {
    const preview = known.get(one.number);
    if (preview?.slug !== undefined) return preview.slug;
    const slug = preview === undefined ? "" : formerSlug(preview);
    const sharing = former.get(slug) ?? [];
    const isOnlyOne =
      sharing.some(({ number }) => number === one.number) && new Set(sharing.map(textOf)).size === 1;
    return slug !== "" && isOnlyOne ? slug : undefined;
  };
  const taken = new Set<string>();
  const slugs = new Map<number, string>();
  const take = (one: T, slug: string): boolean => {
    if (taken.has(slug)) return false;
    taken.add(slug);
    slugs.set(one.number, slug);
    return true;
  };
  const inOrder = [...candidates].sort((a, b) => a.number - b.number);
  for (const one of inOrder) {
    const slug = kept(one);
    if (slug !== undefined) take(one, slug);
  }
  for (const one of inOrder) {
    if (slugs.has(one.number) || take(one, slugOf(one))) continue;
    for (let length = digestLength; !take(one, ownSlug(one, length)); length++);
  }
  return candidates.map((one) => ({ ...one, slug: slugs.get(one.number) ?? slugOf(one) }));
}

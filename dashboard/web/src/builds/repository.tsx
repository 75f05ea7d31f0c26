/** Where repositories are looked at, and what of them is built. */
import { useMemo } from "preact/hooks";
import type { Image } from "../../../../functions/paas/kinds/kpack.ts";
import type { RemoteSync } from "../../../../functions/paas/kinds.ts";
import { OutLink } from "../ui/link.tsx";

/** A repository. */
export interface RepositoryName {
  readonly owner: string;
  readonly repo: string;
}

/**
 * The address of a repository, as kpack's Images say where they are cloned from: which GitHub it is, only the site's settings
 * tell. Undefined where none of the Images is of it.
 */
export function repositoryUrl(images: readonly Image[], { owner, repo }: RepositoryName): string | undefined {
  const ending = `/${owner}/${repo}`.toLowerCase();
  const urls = images.map(({ spec }) => spec.source.git.url.replace(/(\.git)?\/*$/, ""));
  return urls.find((url) => url.toLowerCase().endsWith(ending));
}

/** Says where a repository is, if that is known. */
export type UrlOf = (name: RepositoryName) => string | undefined;

/** {@link repositoryUrl} of these Images: another function only when other repositories are known. */
export function useUrlOf(images: readonly Image[]): UrlOf {
  const urls = images.map(({ spec }) => spec.source.git.url).join("\n");
  return useMemo(() => (name) => repositoryUrl(images, name), [urls]);
}

/** Adds to an address, if it is known. */
export const within = (url: string | undefined, path: string): string | undefined =>
  url === undefined ? undefined : `${url}/${path.split("/").map(encodeURIComponent).join("/")}`;

/** A name that leads somewhere, if it is known where. */
export function Named({ to, children }: { to: string | undefined; children: string }) {
  return to === undefined ? children : <OutLink to={to}>{children}</OutLink>;
}

/** What of the repository a RemoteSync follows. */
export function Followed({ sync: { spec, status }, url }: { sync: RemoteSync; url: string | undefined }) {
  const { sha, pullRequest, branch } = spec.base.github;
  if (sha)
    return (
      <>
        commit <Commit sha={sha} url={url} />
      </>
    );
  if (pullRequest !== undefined)
    return (
      <>
        pull request <Named to={within(url, `pull/${pullRequest}`)}>{`#${pullRequest}`}</Named>
      </>
    );
  if (branch)
    return (
      <>
        branch <Named to={within(url, `tree/${branch}`)}>{branch}</Named>
      </>
    );
  return <>default branch{status?.ref ? ` (${status.ref})` : ""}</>;
}

/** A commit, as short as GitHub shows it. */
export function Commit({ sha, url }: { sha: string | undefined; url: string | undefined }) {
  if (!sha) return null;
  return (
    <code title={sha}>
      <Named to={within(url, `commit/${sha}`)}>{sha.slice(0, 7)}</Named>
    </code>
  );
}

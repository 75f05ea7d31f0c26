/** Links to repositories, branches, pull requests, and commits. */
import type { RemoteSync } from "@denrei/functions/paas/kinds";
import type { Image } from "@denrei/functions/paas/kinds/kpack";
import { useMemo } from "preact/hooks";
import { OutLink } from "../ui/link.tsx";
import { repositoryText as text } from "./text.ts";

/** A repository. */
export interface RepositoryName {
  readonly owner: string;
  readonly repo: string;
}

/**
 * The address of a repository, from the clone URLs of kpack Images: the page does not know which GitHub the site uses. Undefined if no
 * Image is of this repository.
 */
export function repositoryUrl(images: readonly Image[], { owner, repo }: RepositoryName): string | undefined {
  const ending = `/${owner}/${repo}`.toLowerCase();
  const urls = images.map(({ spec }) => spec.source.git.url.replace(/(\.git)?\/*$/, ""));
  return urls.find((url) => url.toLowerCase().endsWith(ending));
}

/** Finds the address of a repository, if known. */
export type UrlOf = (name: RepositoryName) => string | undefined;

/** {@link repositoryUrl} of these Images. The function stays the same while the known repositories do. */
export function useUrlOf(images: readonly Image[]): UrlOf {
  const urls = images.map(({ spec }) => spec.source.git.url).join("\n");
  return useMemo(() => (name) => repositoryUrl(images, name), [urls]);
}

/** Appends a path to an address, if known. */
export const appendPath = (url: string | undefined, path: string): string | undefined =>
  url === undefined ? undefined : `${url}/${path.split("/").map(encodeURIComponent).join("/")}`;

/** A name, linked if its address is known. */
export function OptionalLink({ to, children }: { to: string | undefined; children: string }) {
  return to === undefined ? children : <OutLink to={to}>{children}</OutLink>;
}

/** The repository of a `base`, and the folder in it. */
export function Source({
  of: { github, subPath },
  url,
}: {
  of: RemoteSync["spec"]["base"];
  url: string | undefined;
}) {
  return (
    <>
      <OptionalLink to={url}>{`${github.owner}/${github.repo}`}</OptionalLink>
      {subPath && (
        <>
          {text.folder} <code>{subPath}</code>
        </>
      )}
    </>
  );
}

/** The branch, pull request, or commit that a RemoteSync follows. */
export function Followed({ sync: { spec, status }, url }: { sync: RemoteSync; url: string | undefined }) {
  const { sha, pullRequest, branch } = spec.base.github;
  if (sha)
    return (
      <>
        {text.commit} <Commit sha={sha} url={url} />
      </>
    );
  if (pullRequest !== undefined)
    return (
      <>
        {text.pullRequest}{" "}
        <OptionalLink to={appendPath(url, `pull/${pullRequest}`)}>{`#${pullRequest}`}</OptionalLink>
      </>
    );
  if (branch)
    return (
      <>
        {text.branch} <OptionalLink to={appendPath(url, `tree/${branch}`)}>{branch}</OptionalLink>
      </>
    );
  return <>{text.defaultBranch(status?.ref)}</>;
}

/** A commit, abbreviated as on GitHub. */
export function Commit({ sha, url }: { sha: string | undefined; url: string | undefined }) {
  if (!sha) return null;
  return (
    <code title={sha}>
      <OptionalLink to={appendPath(url, `commit/${sha}`)}>{sha.slice(0, 7)}</OptionalLink>
    </code>
  );
}

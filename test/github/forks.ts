/**
 * A stand-in for forks that are a stranger's: in the package `emulate` only members of an account can fork its private
 * repositories. There the user has one fork for all, in which the branches of each fork begin with its name.
 */
import type { Pull } from "./pulls.ts";
import { user } from "./seed.ts";

/** Where `emulate` has the forks of a repository. */
export const forkedName = (repository: string): string => repository.replace("/", "-");

/** The same with its owner. */
export const forkedRepository = (repository: string): string => `${user.login}/${forkedName(repository)}`;

/** What `emulate` calls a branch of a fork. */
export const forkedBranch = (fork: string, branch: string): string => `${fork}/${branch}`;

/**
 * Makes a pull request from there one of the fork itself, in place, by somebody who is nothing to the repository. The name of
 * the fork; undefined when it is from no fork.
 */
export function asOfFork(pull: Pull): string | undefined {
  const { head, base } = pull;
  const stored = forkedRepository(base.repo.full_name);
  if (head.repo?.full_name !== stored) return undefined;
  const [login = "", name = "", ...branch] = head.ref.split("/");
  const fork = `${login}/${name}`;
  const stranger = JSON.parse(JSON.stringify(head.user).replaceAll(user.login, login));
  const repo = JSON.parse(JSON.stringify(head.repo).replaceAll(stored, fork));
  head.ref = branch.join("/");
  head.label = `${login}:${head.ref}`;
  head.user = stranger;
  head.repo = { ...repo, name, owner: stranger };
  pull.user = stranger;
  pull.author_association = "NONE";
  return fork;
}

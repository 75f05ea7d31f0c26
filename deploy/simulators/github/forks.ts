/**
 * A stand-in for forks that are a stranger's: in the package `emulate` only members of an account can fork its private
 * repositories. There the user has one fork for all, in which the branches of each fork begin with its name.
 */
import { user } from "./seed.ts";

/** Where `emulate` has the forks of a repository. */
export const forkedName = (repository: string): string => repository.replace("/", "-");

/** The same with its owner. */
export const forkedRepository = (repository: string): string => `${user.login}/${forkedName(repository)}`;

/** What `emulate` calls a branch of a fork. */
export const forkedBranch = (fork: string, branch: string): string => `${fork}/${branch}`;

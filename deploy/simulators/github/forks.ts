/**
 * Simulates forks owned by outsiders. In the package `emulate`, only members of an account can fork its private
 * repositories. So the user owns one fork per repository there, whose branch names start with the name of the simulated
 * fork.
 */
import { user } from "./seed.ts";

/** Name of the fork of a repository in `emulate`. */
export const forkedName = (repository: string): string => repository.replace("/", "-");

/** Its full name. */
export const forkedRepository = (repository: string): string => `${user.login}/${forkedName(repository)}`;

/** Name in `emulate` of a branch of a fork. */
export const forkedBranch = (fork: string, branch: string): string => `${fork}/${branch}`;

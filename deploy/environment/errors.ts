/** What can be wrong with a command line. */

/** Exit code of a command line or a setting that can not mean anything, whatever the world is like. */
export const usageExitCode = 2;

/** The command line asks for something that can not be. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** The command line asks for something that there is not at the moment. */
export class AbsentError extends Error {
  override readonly name = "AbsentError";
}

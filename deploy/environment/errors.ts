/** Errors of a command line. */

/** Exit code for an invalid command line or setting. */
export const usageExitCode = 2;

/** The command line is invalid. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Something that the command needs does not exist at the moment. */
export class AbsentError extends Error {
  override readonly name = "AbsentError";
}

/** The user of an existing cluster may not run functions under their generated roles. */
export class RolesRefusedError extends Error {
  override readonly name = "RolesRefusedError";
}

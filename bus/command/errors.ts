/** Errors of a command line. */

/** Exit code for an invalid command line or setting. */
export const usageExitCode = 2;

/** The command line is invalid. */
export class UsageError extends Error {
  override readonly name: string = "UsageError";
}

/** An error whose message tells the user what to do: printed without a stack. */
export class ExpectedError extends Error {
  override readonly name: string = "ExpectedError";
}

/** Something that the command needs does not exist at the moment. */
export class AbsentError extends ExpectedError {
  override readonly name = "AbsentError";
}

/** The user of an existing cluster may not run functions under their generated roles. */
export class RolesRefusedError extends ExpectedError {
  override readonly name = "RolesRefusedError";
}

/** Printing errors: expected ones as a message, unexpected ones with their stack. */
import { ConfigError } from "../config/config.ts";
import { ProjectError } from "../project/errors.ts";
import { redacted } from "../values/redact.ts";
import { ExpectedError, UsageError, usageExitCode } from "./errors.ts";

const isUsage = (error: unknown): error is Error =>
  error instanceof UsageError || error instanceof ConfigError || error instanceof ProjectError;

async function isExpected(error: unknown): Promise<boolean> {
  if (isUsage(error) || error instanceof ExpectedError) return true;
  // Loaded late, because it imports most of the program: usage errors appear at once.
  const { expectedErrors } = await import("./failures.ts");
  return expectedErrors.some((type) => error instanceof type);
}

/** Prints a fatal error, sets the exit code, and returns it. */
export async function report(error: unknown): Promise<number> {
  const text = (await isExpected(error))
    ? `denrei: ${(error as Error).message}`
    : `denrei: unexpected error\n${error instanceof Error ? error.stack : String(error)}`;
  console.error(redacted(text));
  process.exitCode = isUsage(error) ? usageExitCode : 1;
  return process.exitCode;
}

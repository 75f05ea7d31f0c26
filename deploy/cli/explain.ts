/** Errors for people: those that say what to do as they are, the others with their stack. */
import { ConfigError } from "../../bus/config/config.ts";
import { redacted } from "../../bus/values/redact.ts";
import { UsageError, usageExitCode } from "../environment/errors.ts";

const isUsage = (error: unknown): error is Error =>
  error instanceof UsageError || error instanceof ConfigError;

async function explains(error: unknown): Promise<boolean> {
  if (isUsage(error)) return true;
  // Loaded late: it is most of the program, and a slip of the finger is to be answered at once.
  const { selfExplaining } = await import("./failures.ts");
  return selfExplaining.some((type) => error instanceof type);
}

/** Prints an error that ends the program, sets its exit code, and resolves to that. */
export async function report(error: unknown): Promise<number> {
  const text = (await explains(error))
    ? `denrei: ${(error as Error).message}`
    : `denrei: unexpected error\n${error instanceof Error ? error.stack : String(error)}`;
  console.error(redacted(text));
  process.exitCode = isUsage(error) ? usageExitCode : 1;
  return process.exitCode;
}

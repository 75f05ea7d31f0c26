/** Starts the workers of a test with the accounts they have in a cluster. */
import type { Accounts } from "./accounts.ts";
import type { Replica, TestEnvironment } from "./environment.ts";

/** The number of workers that run all functions; or one worker per function with only its rights. */
export type WorkerCount = number | "one each";

/** What workers run. */
export interface WorkersOptions {
  /** Names of the functions. */
  readonly functions: readonly string[];
  readonly count: WorkerCount;
  /** Their environment, in addition to that of their account. */
  readonly env: Readonly<Record<string, string>>;
}

/** Starts the workers; resolves when all are ready. */
export const startWorkers = (
  environment: TestEnvironment,
  accounts: Accounts,
  { functions, count, env }: WorkersOptions,
): Promise<Replica[]> =>
  Promise.all(
    groupsOf(functions, count).map(async (group, at) =>
      environment.worker(`worker-${at + 1}`, group, { env: { ...(await accounts.env(group)), ...env } }),
    ),
  );

/** The functions of each worker. */
const groupsOf = (functions: readonly string[], count: WorkerCount): (readonly string[])[] =>
  count === "one each" ? functions.map((name) => [name]) : Array.from({ length: count }, () => functions);

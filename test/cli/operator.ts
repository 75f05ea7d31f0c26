/** Commands of an operator against a bus, in the process of the test. */
import { expect } from "vitest";
import { runHere } from "./here.ts";

/** What the commands return. */
export interface OperatorCommands {
  readonly env: () => Readonly<Record<string, string>>;
  readonly ask: (...args: string[]) => ReturnType<typeof runHere>;
  /** The output of a command that succeeds. */
  readonly output: (...args: string[]) => Promise<string>;
  // biome-ignore lint/suspicious/noExplicitAny: tests read arbitrary fields
  readonly json: (...args: string[]) => Promise<any>;
}

/** Runs commands as the operator's user of this bus, or the subcommands of one. */
export function operatorCommands(natsUrl: () => string, ...command: readonly string[]): OperatorCommands {
  const env = () => ({ NATS_URL: natsUrl() });
  const ask = (...args: string[]) => runHere([...command, ...args], { env: env() });
  async function output(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await ask(...args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    return stdout;
  }
  return { env, ask, output, json: async (...args) => JSON.parse(await output(...args, "--json")) };
}

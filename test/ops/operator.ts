/** What an operator sees of a bus, by the command line. */
import { expect } from "vitest";
import { runHere } from "../cli/here.ts";

/** Questions of an operator; `env` says how the bus is reached, at each of them. */
export function operator(env: () => Readonly<Record<string, string>>) {
  async function told<T>(...args: string[]): Promise<readonly T[]> {
    const { code, stdout, stderr } = await runHere([...args, "--json"], { env: env() });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    return JSON.parse(stdout);
  }
  return {
    /** Names of the objects that were given up. */
    letters: async (): Promise<string[]> =>
      (await told<{ key: { name: string } }>("deadletters", "list")).map(({ key }) => key.name),
    /** Ids of the webhooks that there are. */
    deliveries: async (): Promise<string[]> =>
      (await told<{ delivery: string }>("webhooks", "list")).map(({ delivery }) => delivery),
  };
}

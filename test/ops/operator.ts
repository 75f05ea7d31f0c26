/** An operator's queries of a bus through the command line. */
import { expect } from "vitest";
import { runHere } from "../cli/here.ts";

/** Queries with the environment that `env` returns at the time of each query. */
export function operator(env: () => Readonly<Record<string, string>>) {
  async function query<T>(...args: string[]): Promise<readonly T[]> {
    const { code, stdout, stderr } = await runHere([...args, "--json"], { env: env() });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    return JSON.parse(stdout);
  }
  return {
    /** Names of dead-lettered objects. */
    letters: async (): Promise<string[]> =>
      (await query<{ key: { name: string } }>("deadletters", "list")).map(({ key }) => key.name),
    /** Ids of the stored webhooks. */
    deliveries: async (): Promise<string[]> =>
      (await query<{ delivery: string }>("webhooks", "list")).map(({ delivery }) => delivery),
  };
}

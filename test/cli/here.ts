/** Runs the command line in this process: for commands that end by themselves, in tests that do not run concurrently. */
import { vi } from "vitest";
import { runCommandLine } from "../../bus/command/program.ts";
import type { Ended } from "./program.ts";

/** Variables that affect commands; removed unless a test sets them. */
const foreign = /^(KUBECONFIG|NATS_|DENREI_(?!TEST_|CACHE_))/;

/** Runs a command line; returns the output and exit code that a process would have. */
export async function runHere(
  args: readonly string[],
  { env = {} }: { readonly env?: Readonly<Record<string, string>> } = {},
): Promise<Omit<Ended, "signal">> {
  const text = { stdout: "", stderr: "" };
  const into = (name: keyof typeof text) => (chunk: unknown) => {
    text[name] += chunk;
    return true;
  };
  const spies = [
    vi.spyOn(process.stdout, "write").mockImplementation(into("stdout")),
    vi.spyOn(process.stderr, "write").mockImplementation(into("stderr")),
    vi.spyOn(console, "error").mockImplementation((line) => into("stderr")(`${line}\n`)),
  ];
  for (const name of Object.keys(process.env).filter((name) => foreign.test(name)))
    vi.stubEnv(name, undefined);
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  try {
    return { code: (await runCommandLine(args)) ?? 0, ...text };
  } finally {
    for (const spy of spies) spy.mockRestore();
    vi.unstubAllEnvs();
    process.exitCode = undefined;
  }
}

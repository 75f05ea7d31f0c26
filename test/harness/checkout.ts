/** A copy of the repository for tests that modify it. */
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { type Ended, root, run } from "../cli/program.ts";
import { linkPackages } from "./linkpackages.ts";

/** Not copied. */
const left = ["node_modules", ".git"];

/** A copy. Its commands end with the test at the latest. */
export interface Checkout {
  readonly path: string;
  /** Runs a command line in it, as a new user's shell would. */
  run(command: string): Promise<Ended>;
  /** Runs a command line and resolves with its output. Throws the output when the command fails. */
  succeed(command: string): Promise<string>;
  remove(): Promise<void>;
}

const longestMillis = 600_000;

/** Copies the working tree; `node_modules` is shared. */
export async function checkout(): Promise<Checkout> {
  const path = await mkdtemp(join(tmpdir(), "denrei-checkout-"));
  const remove = () => rm(path, { recursive: true, force: true });
  try {
    const filter = (source: string) => !left.includes(basename(source));
    await cp(root, path, { recursive: true, verbatimSymlinks: true, filter });
    linkPackages(path);
  } catch (error) {
    await remove();
    throw error;
  }
  const here = (command: string): Promise<Ended> =>
    run(["-c", command], { command: ["/bin/sh"], cwd: path, env: { NO_COLOR: "1" }, longestMillis });
  return {
    path,
    run: here,
    async succeed(command) {
      const { code, signal, stdout, stderr } = await here(command);
      if (code !== 0)
        throw new Error(`command failed with ${code ?? signal}: ${command}\n${stdout}\n${stderr}`);
      return stdout;
    },
    remove,
  };
}

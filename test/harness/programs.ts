/**
 * Programs for tests. A module obtains the programs it needs at its top level. The first test file that imports it then waits for a
 * download or a build, outside of any test's deadline.
 */
import { progressDisplay } from "../../deploy/environment/progress.ts";
import { type Binary, type BinaryName, obtainBinaries } from "../../deploy/local/index.ts";

/** The programs of a local platform. */
export const platformPrograms = [
  "nats-server",
  "etcd",
  "kube-apiserver",
  "kube-controller-manager",
  "kube-scheduler",
  "kwok",
] as const satisfies readonly BinaryName[];

/** The servers of a test have one thread each; a build may use all processors. */
export const buildEnv: NodeJS.ProcessEnv = { ...process.env, GOMAXPROCS: undefined };

/**
 * Obtains programs. The process that downloads or builds a program prints the progress; other processes wait silently. Throws like
 * {@link obtainBinaries}.
 */
export function programs<Name extends BinaryName>(...names: readonly Name[]): Promise<Record<Name, Binary>> {
  const display = progressDisplay(process.stdout);
  return obtainBinaries(names, {
    env: buildEnv,
    onProgress(step) {
      const isNews =
        step.phase !== "waiting" && !(step.phase === "found" && /^(cache|path|assets)/.test(step.detail));
      if (isNews) display.show(step);
    },
  });
}

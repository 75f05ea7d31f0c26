/**
 * Programs for tests. A module that needs one asks for it at its top level, so that the first test file that imports the module
 * waits for a download or a build, and no test's deadline includes it.
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
 * Obtains programs. The process that downloads or builds a program prints the progress; other processes wait silently. Throws what
 * {@link obtainBinaries} throws.
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

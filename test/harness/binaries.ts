/** Before any test: the real parts are there, so that no test's deadline includes a build. */
import { progressDisplay } from "../../deploy/cli/demo/progress.ts";
import { type BinaryName, obtainBinaries, versions } from "../../deploy/local/index.ts";

export default async function setup(): Promise<void> {
  const display = progressDisplay(process.stdout);
  // A cluster in Docker is for those who ask for one.
  const names = (Object.keys(versions) as BinaryName[]).filter((name) => name !== "kind");
  await obtainBinaries(names, {
    onProgress: (step) => display.show(step),
  });
  display.done();
}

/** Before any test: the real parts are there, so that no test's deadline includes a build. */
import { progressDisplay } from "../../deploy/cli/progress.ts";
import { obtainBinaries } from "../../deploy/local/index.ts";

export default async function setup(): Promise<void> {
  const display = progressDisplay(process.stdout);
  await obtainBinaries(["nats-server", "etcd", "kube-apiserver", "kube-controller-manager"], {
    onProgress: (step) => display.show(step),
  });
  display.done();
}

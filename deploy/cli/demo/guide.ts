/** The guide that `denrei up` prints. Indented lines can be pasted into a shell. */
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { launcher } from "denrei/runtime";
import { guideToDashboard } from "../../environment/dashboard.ts";
import { quoted } from "../quoted.ts";
import type { DemoEnvironment } from "./environment.ts";
import { sampleFile } from "./songsteps.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url)).replace(/\/$/, "");

/** The text of the guide. */
export function guide({
  client,
  kubeconfigPath,
  natsUrl,
  directory,
  replicas,
  dashboard,
}: DemoEnvironment): string {
  const cwd = process.cwd();
  const denrei = cwd === root ? "npx denrei" : quoted(launcher);
  const sample = relative(cwd, fileURLToPath(sampleFile));
  const [worker] = replicas;
  // Do not print the user's own settings: they may contain a password.
  const settings =
    kubeconfigPath === undefined
      ? [
          "Everything is running. Open another terminal in this folder, with the same KUBECONFIG and NATS_URL.",
        ]
      : [
          "Everything is running. In another terminal, in this folder, run",
          `    export KUBECONFIG=${quoted(kubeconfigPath)} NATS_URL=${quoted(natsUrl)}`,
        ];
  const lines = [
    "",
    ...settings,
    "To show the objects and the queues, and to start another song:",
    "    kubectl get hikawas,zundokos,kiyoshis",
    `    ${denrei} status`,
    `    kubectl replace --force -f ${quoted(sample)}`,
    `To kill ${worker?.name}, which is then started again:`,
    `    kill -9 ${worker?.pid}`,
    ...(dashboard ? guideToDashboard(dashboard, client.connection.namespace) : []),
    `Logs are in ${directory}/logs. Ctrl-C stops everything.`,
  ];
  return lines.join("\n");
}

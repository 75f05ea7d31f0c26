/** What to type next, once everything runs. Every line is one that can be pasted as it is. */
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { guideToDashboard } from "../../environment/dashboard.ts";
import { quoted } from "../quoted.ts";
import type { DemoEnvironment } from "./environment.ts";
import { sampleFile } from "./songsteps.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url)).replace(/\/$/, "");
const launcher = fileURLToPath(new URL("../denrei.js", import.meta.url));

/** The guide to a stage. */
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
  // The user's own settings are not repeated: there may be a password in them.
  const settings =
    kubeconfigPath === undefined
      ? ["Everything runs. In another terminal, in this folder, with the same KUBECONFIG and NATS_URL, type,"]
      : [
          "Everything runs. In another terminal, in this folder, type",
          `    export KUBECONFIG=${quoted(kubeconfigPath)} NATS_URL=${quoted(natsUrl)}`,
          "and then,",
        ];
  const lines = [
    "",
    ...settings,
    "to see the objects, the queues, and another song:",
    "    kubectl get hikawas,zundokos,kiyoshis",
    `    ${denrei} status`,
    `    kubectl replace --force -f ${quoted(sample)}`,
    `To kill ${worker?.name}, while the others go on until it is back:`,
    `    kill -9 ${worker?.pid}`,
    ...(dashboard ? guideToDashboard(dashboard, client.connection.namespace) : []),
    `Logs are in ${directory}/logs. Ctrl-C stops everything.`,
  ];
  return lines.join("\n");
}

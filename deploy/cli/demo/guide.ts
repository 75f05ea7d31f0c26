/** The guide that `denrei up` prints. Indented lines can be pasted into a shell. */
import { launcher } from "denrei/runtime";
import { guideToDashboard } from "../../environment/dashboard.ts";
import { guideToHooks } from "../../environment/gateways.ts";
import { quoted } from "../quoted.ts";
import type { DemoEnvironment } from "./environment.ts";

/** The command line, for the project in `root`. */
export const programIn = (root: string): string => (process.cwd() === root ? "npx denrei" : quoted(launcher));

/** The text of the guide. `commands` show the objects of the project. */
export function guide(
  { client, kubeconfigPath, natsUrl, directory, replicas, dashboard, hooks }: DemoEnvironment,
  commands: readonly string[],
): string {
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
    ...commands,
    `To kill ${worker?.name}, which is then started again:`,
    `    kill -9 ${worker?.pid}`,
    ...guideToHooks(hooks),
    ...(dashboard ? guideToDashboard(dashboard, client.connection.namespace) : []),
    `Logs are in ${directory}/logs. Ctrl-C stops everything.`,
  ];
  return lines.join("\n");
}

/** The guide that `denrei dev` prints once the first code runs. Indented lines can be pasted into a shell. */
import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { guideToDashboard } from "../../environment/dashboard.ts";
import type { Environment } from "../../environment/environment.ts";
import { guideToHooks } from "../../environment/gateways.ts";
import { isRepository, samplesOf } from "../layout.ts";
import { quoted } from "../quoted.ts";
import type { DevDashboard } from "./dashboard.ts";
import type { DevGitHub } from "./github.ts";
import type { Declared, Resource } from "./protocol.ts";
import type { Receiver } from "./receiver.ts";
import type { Relay } from "./relay.ts";

/** The default of debuggers, and the port in `.vscode/launch.json`. */
export const inspectorPort = 9229;

/** What may run in addition to bridge and workers. */
export interface Extras {
  readonly inspector: Relay | undefined;
  readonly receiver: Receiver | undefined;
  readonly github: DevGitHub | undefined;
  readonly dashboard: DevDashboard | undefined;
}

/** The text of the guide. */
export function guide(
  { kubeconfigPath, natsUrl }: Pick<Environment, "kubeconfigPath" | "natsUrl">,
  { functions, resources }: Pick<Declared, "functions" | "resources">,
  { inspector, receiver, github, dashboard }: Extras,
  root: string,
): string {
  // Do not print the user's own settings: they may contain a password.
  const settings =
    kubeconfigPath === undefined
      ? ["In another terminal, in this folder, with the same KUBECONFIG and NATS_URL, run"]
      : [
          "In another terminal, in this folder, run",
          `    export KUBECONFIG=${quoted(kubeconfigPath)} NATS_URL=${quoted(natsUrl)}`,
          "and then",
        ];
  return [
    "",
    `${functions.join(", ")} ${functions.length === 1 ? "runs" : "run"}. ${settings[0]}`,
    ...settings.slice(1),
    ...samplesIn(root, functions).map((path) => `    kubectl apply -f ${quoted(path)}`),
    `    kubectl get ${resourceNames(resources).join(",")} -A`,
    "    npx denrei status",
    ...(github ? guideToGitHub(github) : []),
    ...guideToHooks(receiver?.hooks ?? []),
    ...(inspector
      ? [
          `A debugger can attach to 127.0.0.1:${inspector.port}: in VS Code with "Attach to npm run dev"${
            inspector.port === inspectorPort
              ? ", in Chrome at chrome://inspect."
              : ` once .vscode/launch.json has "port": ${inspector.port}, in Chrome at chrome://inspect with 127.0.0.1:${inspector.port} under "Configure".`
          }`,
        ]
      : []),
    ...(dashboard ? guideToDashboard(dashboard, dashboard.namespace) : []),
    `When you save a file${isRepository(root) ? " in functions/ or bus/" : ""}, the new code handles the next event. Ctrl-C stops everything.`,
    "",
  ].join("\n");
}

/** The most samples to list. */
const mostSamples = 5;

/** Files with objects for the functions, relative to the working directory. */
function samplesIn(root: string, functions: readonly string[]): string[] {
  const song = "functions/zundoko/sample.yaml";
  const ours = functions.includes("hikawa") && existsSync(join(root, song)) ? [song] : [];
  const paths = [...ours, ...samplesOf(root, functions)].slice(0, mostSamples);
  return paths.map((path) => relative(process.cwd(), join(root, path)));
}

/** Names for `kubectl get`, with the group if two groups have the same plural. */
const resourceNames = (resources: readonly Resource[]): string[] =>
  resources.map(({ plural, group }) =>
    resources.some((other) => other.plural === plural && other.group !== group)
      ? `${plural}.${group}`
      : plural,
  );

/** Commands that apply the App, which its functions reconcile, and push a commit, which sends a webhook. */
function guideToGitHub({ url, repository, manifestPath, headerPath }: DevGitHub): string[] {
  const file = `${url}/api/v3/repos/${repository}/contents/hello-$RANDOM.txt`;
  const commit = {
    message: "Say hello",
    content: Buffer.from("Hello.\n").toString("base64"),
    branch: "main",
  };
  return [
    `GitHub is simulated at ${url}. To use its App, and to push to ${repository}:`,
    `    kubectl apply -f ${quoted(manifestPath)}`,
    `    curl -X PUT ${file} -H @${quoted(headerPath)} -d ${quoted(JSON.stringify(commit))}`,
  ];
}

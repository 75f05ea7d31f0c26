/** What to type next, once the first code runs. Every line is one that can be pasted as it is. */
import { existsSync } from "node:fs";
import { guideToDashboard } from "../../environment/dashboard.ts";
import type { Environment } from "../../environment/environment.ts";
import { quoted } from "../quoted.ts";
import type { DevDashboard } from "./dashboard.ts";
import type { DevGitHub } from "./github.ts";
import type { Declared, Resource } from "./protocol.ts";
import type { Receiver } from "./receiver.ts";
import type { Relay } from "./relay.ts";

/** What debuggers try first, and `.vscode/launch.json` has. */
export const inspectorPort = 9229;

/** What may be there beside bridge and workers. */
export interface Beside {
  readonly inspector: Relay | undefined;
  readonly receiver: Receiver | undefined;
  readonly github: DevGitHub | undefined;
  readonly dashboard: DevDashboard | undefined;
}

/** The guide to an environment and what runs in it. */
export function guide(
  { kubeconfigPath, natsUrl }: Pick<Environment, "kubeconfigPath" | "natsUrl">,
  { functions, resources }: Pick<Declared, "functions" | "resources">,
  { inspector, receiver, github, dashboard }: Beside,
): string {
  // The user's own settings are not repeated: there may be a password in them.
  const settings =
    kubeconfigPath === undefined
      ? ["In another terminal, in this folder, with the same KUBECONFIG and NATS_URL, type"]
      : [
          "In another terminal, in this folder, type",
          `    export KUBECONFIG=${quoted(kubeconfigPath)} NATS_URL=${quoted(natsUrl)}`,
          "and then",
        ];
  const sample = "functions/zundoko/sample.yaml";
  return [
    "",
    `${functions.join(", ")} ${functions.length === 1 ? "runs" : "run"}. ${settings[0]}`,
    ...settings.slice(1),
    ...(functions.includes("hikawa") && existsSync(sample) ? [`    kubectl apply -f ${sample}`] : []),
    `    kubectl get ${resourceNames(resources).join(",")} -A`,
    "    npx denrei status",
    ...(github ? guideToGitHub(github) : []),
    ...(receiver
      ? [`Webhooks are received at ${receiver.hook.urls[0]}, with the secret in ${receiver.secretPath}.`]
      : []),
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
    "Save a file below functions/ or bus/, and the next event is handled by its new code. Ctrl-C stops everything.",
    "",
  ].join("\n");
}

/** Names for `kubectl get`: with their group where two groups have the same plural, of which kubectl would take one. */
const resourceNames = (resources: readonly Resource[]): string[] =>
  resources.map(({ plural, group }) =>
    resources.some((other) => other.plural === plural && other.group !== group)
      ? `${plural}.${group}`
      : plural,
  );

/** The App's key and a commit: the first makes its functions busy, the second brings a webhook. */
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

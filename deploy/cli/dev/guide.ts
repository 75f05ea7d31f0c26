/** What to type next, once the first code runs. Every line is one that can be pasted as it is. */
import { existsSync } from "node:fs";
import type { Ground } from "./ground.ts";
import type { Declared } from "./told.ts";

/** Text for the shell, in quotes only if it must be. */
const quoted = (text: string): string =>
  /^[\w./:=@,+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

/** The guide to a ground and what runs on it. */
export function guide(
  { kubeconfigPath, natsUrl }: Ground,
  { functions, plurals }: Declared,
  inspectorPort: number | undefined,
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
    `    kubectl get ${plurals.join(",")} -A`,
    "    npx denrei status",
    ...(inspectorPort === undefined
      ? []
      : [
          `A debugger can attach to 127.0.0.1:${inspectorPort}: in VS Code with "Attach to npm run dev", in Chrome at chrome://inspect.`,
        ]),
    "Save a file below functions/ or bus/, and the next event is handled by its new code. Ctrl-C stops everything.",
    "",
  ].join("\n");
}

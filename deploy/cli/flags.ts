/** Flags of settings, and what `--help` says of them. */
import { type Command, Option } from "commander";
import { defaultOf, flagOf, type SettingName, variableOf } from "../../bus/config/config.ts";

/** What `--help` says of a setting: its value's name, and what it is for. */
const descriptions: Record<SettingName, readonly [value: string, text: string]> = {
  kubeconfig: [
    "path",
    "kubeconfig file (default: the files of KUBECONFIG, ~/.kube/config, or the pod's service account)",
  ],
  context: ["name", "context of the kubeconfig (default: its current one)"],
  natsUrl: ["url", "NATS servers, separated by commas"],
  natsCreds: ["path", "NATS credentials file"],
  natsCa: ["path", "certificate of the authority that the NATS servers' are signed by"],
  natsCert: ["path", "certificate that tells the NATS servers who this is; read again when it was renewed"],
  natsKey: ["path", "the certificate's private key"],
  cluster: ["name", "name of the cluster on a bus that many clusters share"],
  replica: ["name", "name of this process, unique among its replicas (default: host name and process id)"],
  streamReplicas: ["count", "copies of each stream: 1, or 3 on a NATS cluster"],
  ackWaitSeconds: ["seconds", "how long the objects of a killed worker wait; workers and bridge must agree"],
  httpAddress: ["host:port", "where /healthz, /readyz and /metrics are served; port 0 is any free one"],
  logLevel: ["level", "trace, debug, info, warn, error, fatal or silent"],
  namespaces: ["names", "watch these namespaces only, separated by commas (default: all)"],
  watchSeconds: [
    "seconds",
    "how long one watch request lives; a dead connection is noticed within this time",
  ],
  webhookAddress: ["host:port", "where webhooks are received; port 0 is any free one"],
  webhookPath: ["path", "path of webhooks: a hook is served at <path>/<hook>"],
  webhookSecrets: [
    "folder",
    "a file for each hook, called like it, with a secret in each line; read again when it changes",
  ],
  dashboardAddress: ["host:port", "where the dashboard is served; port 0 is any free one"],
  dashboardUrl: ["url", "where browsers reach it (default: where it is served)"],
  dashboardKeys: [
    "path",
    "a file with keys for sessions, one in each line: the first is for new ones; read again when it changes",
  ],
  oidcIssuer: ["url", "OpenID Connect issuer that people log in at, and whose tokens the API server takes"],
  oidcClientId: ["id", "the dashboard's name at the issuer, and the audience of the tokens"],
  oidcClientSecret: ["path", "a file with its secret there (default: it is a public client)"],
  oidcScopes: ["scopes", "what the issuer is asked for, separated by spaces"],
  githubUrl: ["url", "GitHub that people connect their accounts of"],
  githubClientId: ["id", "client id of the GitHub App that they do so with (default: they can not)"],
  githubClientSecret: ["path", "a file with the App's client secret"],
  oidcCa: [
    "path",
    "certificate of the authority that the issuer's is signed by (default: those of the system)",
  ],
};

/** Adds the flags of settings; environment and defaults are applied when the settings are read. */
export function withSettings(command: Command, names: readonly SettingName[]): Command {
  for (const name of names) {
    const [value, text] = descriptions[name];
    const variable = variableOf(name);
    const fallback = defaultOf(name);
    const notes = [variable && `[env: ${variable}]`, fallback && `(default: ${fallback})`].filter(Boolean);
    command.addOption(new Option(`${flagOf(name)} <${value}>`, [text, ...notes].join(" ")));
  }
  return command;
}

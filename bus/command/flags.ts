/** Command-line flags of the settings. */
import { type Command, Option } from "commander";
import { defaultOf, flagOf, type SettingName, variableOf } from "../config/config.ts";

/** Placeholder of the value, and description. */
const descriptions: Record<SettingName, readonly [value: string, text: string]> = {
  kubeconfig: ["path", "Kubeconfig file (default: KUBECONFIG, ~/.kube/config, or the pod's service account)"],
  context: ["name", "Context of the kubeconfig (default: the current context)"],
  impersonateNamespace: [
    "name",
    "Impersonate the service accounts in this namespace, to run outside a cluster with generated rights",
  ],
  natsUrl: ["url", "Comma-separated NATS servers"],
  natsCreds: ["path", "NATS credentials file"],
  natsCa: ["path", "CA certificate that signs the NATS servers' certificates"],
  natsCert: ["path", "Client certificate for the NATS servers; read again after a renewal"],
  natsKey: ["path", "Private key of the client certificate"],
  cluster: ["name", "Name of the cluster on a bus that several clusters share"],
  replica: ["name", "Unique name of this replica (default: host name and process ID)"],
  streamReplicas: ["count", "Replicas of each stream: 1, or 3 on a NATS cluster"],
  ackWaitSeconds: [
    "seconds",
    "Time until requests of a killed worker are redelivered; the same for workers and bridge",
  ],
  httpAddress: ["host:port", "Address of /healthz, /readyz, and /metrics; port 0 selects a free port"],
  logLevel: ["level", "trace, debug, info, warn, error, fatal, or silent"],
  namespaces: ["names", "Comma-separated namespaces to watch (default: all)"],
  watchSeconds: ["seconds", "Duration of a watch request; a dead connection is detected within this time"],
  webhookAddress: ["host:port", "Address that receives webhooks; port 0 selects a free port"],
  webhookPath: ["path", "Path prefix: a hook is served at <path>/<provider>/<hook>"],
  webhookSecrets: [
    "folder",
    "One file per hook, <provider>.<hook>, with one secret per line; read again after changes",
  ],
  admissionAddress: ["host:port", "Address that the API server calls; port 0 selects a free port"],
  admissionCert: ["path", "Server certificate; read again after a renewal"],
  admissionKey: ["path", "Private key of the server certificate"],
  dashboardAddress: ["host:port", "Address that serves the dashboard; port 0 selects a free port"],
  dashboardUrl: ["url", "URL for browsers (default: the address)"],
  dashboardKeys: [
    "path",
    "File with session keys, one per line; the first encrypts new sessions; read again after changes",
  ],
  oidcIssuer: ["url", "OpenID Connect issuer for logins; the API server must accept its tokens"],
  oidcClientId: ["id", "Client ID of the dashboard at the issuer, and audience of the tokens"],
  oidcClientSecret: ["path", "File with the client secret (default: a public client)"],
  oidcScopes: ["scopes", "Space-separated scopes to request"],
  githubUrl: ["url", "GitHub server on which users connect their accounts"],
  githubClientId: ["id", "Client ID of the GitHub App for connections (default: no connections)"],
  githubClientSecret: ["path", "File with the client secret of the GitHub App"],
  oidcCa: ["path", "CA certificate that signs the issuer's certificate (default: the CAs of the system)"],
};

/** Adds flags. `readSettings` applies the environment and the defaults. */
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

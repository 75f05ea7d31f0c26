/**
 * Startup checks of a piped of PipeCD v1, from its source (pkg/app/pipedv1/cmd/piped, pkg/configv1, pkg/lifecycle, and the
 * plugin SDK at commit 7e228592b). Shares no code with the renderer of configurations, so that each can reveal errors in
 * the other.
 */
import { parseDocument } from "yaml";

type Fields = Readonly<Record<string, unknown>>;
const text = (value: unknown): string => (typeof value === "string" ? value : "");
const fieldsOf = (value: unknown): Fields => (value ?? {}) as Fields;
const listOf = (value: unknown): readonly Fields[] => (value ?? []) as readonly Fields[];

const flags = [
  ...["config-file", "config-data", "config-gcp-secret", "config-aws-secret", "insecure", "cert-file"],
  ...["admin-port", "plugin-service-port", "tools-dir", "add-login-user-to-passwd", "grace-period"],
  ...["launcher-version", "log-level", "log-encoding", "metrics", "profile", "profile-debug-logging"],
  "profiler-credentials-file",
];

/** The last log line of a piped that exits at start; undefined if it runs. */
export function v1Crash({
  args,
  config,
}: {
  readonly args: readonly string[];
  /** Content of its configuration file. */
  readonly config: string;
}): string | undefined {
  const [command, ...rest] = args;
  if (command !== "run") return `unknown command "${command}" for "piped"`;
  const unknown = rest.find((arg) => !flags.includes(/^--([^=]+)/.exec(arg)?.[1] ?? ""));
  if (unknown !== undefined) return `unknown flag: ${unknown.split("=")[0]}`;
  const document = parseDocument(config, { version: "1.1" });
  if (document.errors[0]) return document.errors[0].message;
  const { apiVersion, kind, spec } = fieldsOf(document.toJS());
  if (apiVersion !== "pipecd.dev/v1beta1") return `unsupported version: ${apiVersion}`;
  if (kind !== "Piped") return `wrong configuration kind for piped: ${kind}`;
  return specProblem(fieldsOf(spec)) ?? pluginsProblem(listOf(fieldsOf(spec).plugins));
}

/** The plugins that a piped reports at start. */
export const reportedPlugins = (spec: Fields): { name: string; deployTargets: string[] }[] =>
  listOf(spec.plugins).map(({ name, deployTargets }) => ({
    name: text(name),
    deployTargets: listOf(deployTargets).map((target) => text(target.name)),
  }));

function specProblem(spec: Fields): string | undefined {
  for (const name of ["projectID", "pipedID", "apiAddress"]) {
    if (!text(spec[name])) return `${name} must be set`;
  }
  if (!text(spec.pipedKeyFile) && !text(spec.pipedKeyData))
    return "either pipedKeyFile or pipedKeyData must be set";
  const { sshKeyFile, sshKeyData, password, username } = fieldsOf(spec.git);
  if (password && (sshKeyFile || sshKeyData))
    return "cannot configure both sshKeyData or sshKeyFile and password authentication";
  if (sshKeyFile && sshKeyData) return "only either sshKeyFile or sshKeyData can be set";
  if (password && !username) return "both username and password must be set";
  const watched = listOf(fieldsOf(spec.eventWatcher).gitRepos).map(({ repoId }) => text(repoId));
  const duplicate = watched.find((id, index) => watched.indexOf(id) < index);
  if (duplicate !== undefined) return `duplicated repo id (${duplicate}) found in the eventWatcher directive`;
  for (const { slack } of listOf(fieldsOf(spec.notifications).receivers)) {
    const { hookURL, channelID, oauthTokenData, oauthTokenFile } = fieldsOf(slack);
    if (slack && !hookURL && !(channelID && (oauthTokenData || oauthTokenFile)))
      return "missing channelID or OAuth token configuration";
  }
  return undefined;
}

/** Plugins are downloaded and started one after another. Each needs its own port, different from the piped's own ports. */
function pluginsProblem(plugins: readonly Fields[]): string | undefined {
  const ports = new Set<unknown>([9085, 9087]);
  const files = new Set<string>();
  for (const plugin of plugins) {
    const name = text(plugin.name);
    const problem = downloadProblem(name, text(plugin.url)) ?? startProblem(plugin);
    if (problem !== undefined) return `failed to run plugin ${name}: ${problem}`;
    if (ports.has(plugin.port)) return `failed to run plugin ${name}: address already in use`;
    // A second plugin of the same name would run the program of the first.
    if (files.has(name)) return `plugin ${name}: another plugin has the same file`;
    ports.add(plugin.port);
    files.add(name);
  }
  return undefined;
}

function downloadProblem(name: string, url: string): string | undefined {
  if (name.includes("/")) return "could not move the download: no such file or directory";
  const [, scheme = "", host = "", path = ""] = /^(?:([a-z][a-z0-9+.-]*):\/\/)?([^/]*)(.*)$/.exec(url) ?? [];
  if (!["file", "http", "https", "oci"].includes(scheme)) return `unsupported file scheme ${scheme}`;
  if (scheme !== "file" && !host) return "host is required";
  return path ? undefined : "path is required";
}

/** The plugin's validation of its own configuration. */
function startProblem({ name, url, port, deployTargets }: Fields): string | undefined {
  if (!text(name)) return "name must be set";
  if (!/^(file|https|oci):/.test(text(url))) return "only file, https and oci schemes are supported";
  if (!Number.isInteger(port) || Number(port) < 1 || Number(port) > 65_535) return `invalid port ${port}`;
  const incomplete = listOf(deployTargets).find(({ config }) => config === undefined);
  return incomplete && `deploy target ${text(incomplete.name)}: unexpected end of JSON input`;
}

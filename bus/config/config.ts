/** Configuration of the processes: flags, then environment, then defaults; validated once, at start. */
import { accessSync, constants } from "node:fs";
import { hostname } from "node:os";
import { z } from "zod";
import { redacted } from "../values/redact.ts";

/** `host:port`, `:port`, or `[v6]:port`. */
const address = z
  .string()
  .refine(
    (text) => /^(\[[0-9a-fA-F:]+\]|[^:\s]*):\d{1,5}$/.test(text) && Number(/\d+$/.exec(text)?.[0]) <= 65_535,
    "expected host:port or :port, with a port from 0 to 65535",
  );

const dnsLabel = z
  .string()
  .regex(
    /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/,
    "expected lower-case letters, digits and dashes, at most 63",
  );

/** A whole number from `least` to `most`, inclusive. */
function wholeNumber(least: number, most: number) {
  const message = `expected a whole number from ${least} to ${most}`;
  const inRange = (value: number) => value >= least && value <= most;
  return z.string().regex(/^\d+$/, message).transform(Number).refine(inRange, message);
}

const file = z.string().refine((path) => {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}, "expected a readable file");

/** Session cookies must not cross the network in clear text; the loopback interface is safe. */
const origin = z
  .string()
  .refine(
    (text) => URL.canParse(text) && new URL(text).origin === text && isConfidential(new URL(text)),
    "expected https://host, or http://127.0.0.1:port or http://localhost:port on this machine, without a path",
  );

const isConfidential = ({ protocol, hostname: host }: URL): boolean =>
  protocol === "https:" || (protocol === "http:" && ["127.0.0.1", "localhost", "[::1]"].includes(host));

const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;

/** Every setting. Its flag is `--kebab-case`, its variable is given here. */
const settings = {
  kubeconfig: { env: undefined, schema: z.string().min(1).optional() },
  context: { env: undefined, schema: z.string().min(1).optional() },
  impersonateNamespace: { env: "DENREI_IMPERSONATE_NAMESPACE", schema: dnsLabel.optional() },
  natsUrl: {
    env: "NATS_URL",
    schema: z
      .string()
      .regex(
        /^((nats|tls):\/\/)?[^\s,/]+\/?(,\s*((nats|tls):\/\/)?[^\s,/]+\/?)*$/,
        "expected nats://host:port or tls://host:port, or several with commas",
      )
      .default("nats://127.0.0.1:4222"),
  },
  natsCreds: { env: "NATS_CREDS", schema: file.optional() },
  natsCa: { env: "NATS_CA", schema: file.optional() },
  natsCert: { env: "NATS_CERT", schema: file.optional() },
  natsKey: { env: "NATS_KEY", schema: file.optional() },
  cluster: { env: "DENREI_CLUSTER", schema: dnsLabel.default("default") },
  replica: {
    env: "DENREI_REPLICA",
    schema: z
      .string()
      .regex(/^[A-Za-z0-9._-]{1,100}$/, "expected letters, digits, dots, dashes and underscores, at most 100")
      .default(() => `${hostname().slice(0, 60)}-${process.pid}`),
  },
  streamReplicas: { env: "DENREI_STREAM_REPLICAS", schema: wholeNumber(1, 5).default(1) },
  ackWaitSeconds: { env: "DENREI_ACK_WAIT_SECONDS", schema: wholeNumber(3, 600).default(10) },
  httpAddress: { env: "DENREI_HTTP_ADDRESS", schema: address.default("127.0.0.1:0") },
  logLevel: {
    env: "DENREI_LOG_LEVEL",
    schema: z.enum(logLevels, `expected ${logLevels.slice(0, -1).join(", ")} or silent`).default("info"),
  },
  namespaces: {
    env: "DENREI_NAMESPACES",
    schema: z
      .string()
      .optional()
      .transform((text) => (text ? text.split(",").map((name) => name.trim()) : []))
      .pipe(z.array(dnsLabel)),
  },
  watchSeconds: { env: "DENREI_WATCH_SECONDS", schema: wholeNumber(1, 3600).default(60) },
  webhookAddress: { env: "DENREI_WEBHOOK_ADDRESS", schema: address.default("127.0.0.1:8080") },
  webhookPath: {
    env: "DENREI_WEBHOOK_PATH",
    schema: z
      .string()
      .regex(/^(\/|(\/[A-Za-z0-9._-]+)+)$/, "expected a path such as /hooks")
      .default("/"),
  },
  webhookSecrets: {
    env: "DENREI_WEBHOOK_SECRETS",
    schema: z.string("expected a folder with a file of secrets for each webhook").min(1),
  },
  admissionAddress: { env: "DENREI_ADMISSION_ADDRESS", schema: address.default("127.0.0.1:8443") },
  admissionCert: {
    env: "DENREI_ADMISSION_CERT",
    schema: z.string("expected a file with the certificate of the webhook (denrei certificates)").pipe(file),
  },
  admissionKey: {
    env: "DENREI_ADMISSION_KEY",
    schema: z.string("expected a file with the private key of the certificate").pipe(file),
  },
  dashboardAddress: { env: "DENREI_DASHBOARD_ADDRESS", schema: address.default("127.0.0.1:8090") },
  dashboardUrl: { env: "DENREI_DASHBOARD_URL", schema: origin.optional() },
  dashboardKeys: {
    env: "DENREI_DASHBOARD_KEYS",
    schema: z
      .string("expected a file with a key for sessions in each line (openssl rand -base64 32)")
      .pipe(file),
  },
  oidcIssuer: {
    env: "DENREI_OIDC_ISSUER",
    schema: z
      .string("expected the address of the OpenID Connect issuer that the API server trusts")
      .regex(/^https:\/\/[^\s?#]+$/, "expected https://host/path, as the tokens have it"),
  },
  oidcClientId: {
    env: "DENREI_OIDC_CLIENT_ID",
    schema: z
      .string("expected the client's id at the issuer, which the API server takes as an audience")
      .min(1),
  },
  oidcClientSecret: { env: "DENREI_OIDC_CLIENT_SECRET", schema: file.optional() },
  oidcScopes: {
    env: "DENREI_OIDC_SCOPES",
    schema: z
      .string()
      .refine((text) => text.split(" ").includes("openid"), 'expected scopes with "openid" among them')
      .default("openid offline_access"),
  },
  githubUrl: { env: "DENREI_GITHUB_URL", schema: origin.default("https://github.com") },
  githubClientId: { env: "DENREI_GITHUB_CLIENT_ID", schema: z.string().min(1).optional() },
  githubClientSecret: { env: "DENREI_GITHUB_CLIENT_SECRET", schema: file.optional() },
  oidcCa: { env: "DENREI_OIDC_CA", schema: file.optional() },
} as const;

/** Names of the settings. */
export type SettingName = keyof typeof settings;
/** The values of some settings. */
export type Settings<N extends SettingName> = { [K in N]: z.output<(typeof settings)[K]["schema"]> };

/** Settings for the address of the bus and the user. */
export const busSettings = ["natsUrl", "natsCreds", "natsCa", "natsCert", "natsKey"] as const;
const ownSettings = ["replica", "streamReplicas", "ackWaitSeconds", "httpAddress", "logLevel"] as const;
/** Settings that every process reads. */
export const busProcessSettings = [...busSettings, ...ownSettings] as const;
/** Settings that every process with a cluster reads. */
export const processSettings = [
  ...(["kubeconfig", "context"] as const),
  ...busSettings,
  "cluster",
  ...ownSettings,
] as const;
/** Settings of processes that have a service account of their own in a cluster. */
export const accountSettings = ["impersonateNamespace", ...processSettings] as const;

/** Settings of a process without a cluster and a bus. */
export const standaloneSettings = ["replica", "httpAddress", "logLevel"] as const;

export type StandaloneSettings = Settings<(typeof standaloneSettings)[number]>;
/** Settings of a process with a connection to the bus. */
export type BusProcessSettings = Settings<(typeof busProcessSettings)[number]>;
/** Settings of a process with a cluster and a bus. */
export type ProcessSettings = Settings<(typeof processSettings)[number]>;
export type AccountSettings = Settings<(typeof accountSettings)[number]>;

/** Settings of the webhook for conversions and admission. */
export const admissionSettings = [
  ...standaloneSettings,
  "admissionAddress",
  "admissionCert",
  "admissionKey",
] as const;

/** Settings of the dashboard. */
export const dashboardSettings = [
  ...processSettings,
  "dashboardAddress",
  "dashboardUrl",
  "dashboardKeys",
  "oidcIssuer",
  "oidcClientId",
  "oidcClientSecret",
  "oidcScopes",
  "oidcCa",
  "githubUrl",
  "githubClientId",
  "githubClientSecret",
] as const;

/** A setting has an invalid value. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** `--nats-url` for `natsUrl`. */
export const flagOf = (name: SettingName): string =>
  `--${name.replace(/[A-Z]/g, (char) => `-${char.toLowerCase()}`)}`;

/** The variable of a setting, if it has one. */
export const variableOf = (name: SettingName): string | undefined => settings[name].env;

/** The default of a setting as text; undefined if it has none, or if it differs per process. */
export function defaultOf(name: SettingName): string | undefined {
  if (name === "replica") return undefined;
  const value = settings[name].schema.safeParse(undefined).data;
  return value === undefined || String(value) === "" ? undefined : String(value);
}

/**
 * Reads settings. Throws a {@link ConfigError} that names each invalid one with its source, the expected, and the found
 * value.
 */
export function readSettings<N extends SettingName>(
  names: readonly N[],
  flags: Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string | undefined>>,
): Settings<N> {
  const values: Record<string, unknown> = {};
  const problems: string[] = [];
  for (const name of names) {
    const { env: variable, schema } = settings[name];
    const fromEnv = variable === undefined || env[variable] === "" ? undefined : env[variable];
    const found = flags[name] ?? fromEnv;
    const result = (schema as z.ZodType).safeParse(found);
    if (result.success) values[name] = result.data;
    else {
      const source =
        found === undefined
          ? `${flagOf(name)} or ${variable}`
          : flags[name] === undefined
            ? variable
            : flagOf(name);
      const expected = [...new Set(result.error.issues.map((issue) => issue.message))].join("; ");
      const what = found === undefined ? "none" : `"${redacted(String(found))}"`;
      problems.push(`${source}: ${expected}, found ${what}`);
    }
  }
  if (problems.length === 1) throw new ConfigError(problems[0]);
  if (problems.length > 0) {
    throw new ConfigError(`${problems.length} settings are wrong:\n  ${problems.join("\n  ")}`);
  }
  return values as Settings<N>;
}

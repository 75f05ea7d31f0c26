/**
 * Startup errors of PipeCD's programs: from recordings of v0.57.0, and from the source of v0.9.0. Shares no code with the
 * renderer of configurations, so that each can reveal errors in the other.
 */
import { parseDocument } from "yaml";
import { cronProblem, durationProblem } from "./startuptimes.ts";
import { dsnProblem, endpointProblem, mongoProblem } from "./startupurls.ts";

/** Inputs of a program's start. */
export interface Started {
  readonly program: "server" | "ops" | "piped";
  readonly profile: "C" | "L0";
  /** Content of its configuration file. */
  readonly config: string;
  /** Read by servers only. */
  readonly encryptionKey?: Buffer;
}

type Fields = Readonly<Record<string, unknown>>;
/** Checks one step of the start. Returns the error, or undefined to continue. */
type Step = () => string | undefined;

const firstOf = (...steps: readonly Step[]): string | undefined => {
  for (const step of steps) {
    const problem = step();
    if (problem !== undefined) return problem;
  }
  return undefined;
};

/** The last log line of a program that exits at start; undefined if it runs. */
export function crashOf(started: Started): string | undefined {
  const document = parseDocument(started.config, { version: "1.1" });
  if (document.errors[0]) return document.errors[0].message;
  const { apiVersion, kind, spec } = document.toJS() as { apiVersion?: string; kind?: string; spec: Fields };
  if (apiVersion !== "pipecd.dev/v1beta1") return `unsupported version: ${apiVersion}`;
  const expectedKind = started.program === "piped" ? "Piped" : "ControlPlane";
  if (kind !== expectedKind) return `wrong configuration kind: ${kind}`;
  return started.program === "piped" ? pipedCrash(spec, started) : planeCrash(spec, started);
}

const planeFields = {
  L0: ["address", "stateKey", "datastore", "filestore", "cache", "projects", "sharedSSOConfigs"],
  C: [
    ...["address", "stateKey", "datastore", "filestore", "cache", "insightCollector", "projects"],
    "sharedSSOConfigs",
  ],
};

function planeCrash(spec: Fields, { program, profile, encryptionKey }: Started): string | undefined {
  const { datastore, filestore, cache, insightCollector, sharedSSOConfigs } = spec;
  return firstOf(
    () => unknownIn(spec, planeFields[profile]),
    () => durationProblem(fieldsOf(cache).ttl),
    () => firstOf(...(listOf(sharedSSOConfigs) as Fields[]).map((sso) => () => loginProblem(sso, profile))),
    // v0.9.0's ops has no filestore.
    () => (profile === "L0" && program === "ops" ? undefined : filestoreProblem(fieldsOf(filestore))),
    () => datastoreProblem(fieldsOf(datastore), profile, program),
    () => (program === "ops" && profile === "C" ? collectorProblem(fieldsOf(insightCollector)) : undefined),
    () =>
      encryptionKey && encryptionKey.length < 32
        ? `key size (${encryptionKey.length}) must be greater than or equal to 32`
        : undefined,
  );
}

const fieldsOf = (value: unknown): Fields => (value ?? {}) as Fields;
const listOf = (value: unknown): readonly unknown[] => (value ?? []) as readonly unknown[];
const text = (value: unknown): string => (value === undefined || value === null ? "" : String(value));

function unknownIn(spec: Fields, known: readonly string[]): string | undefined {
  const name = Object.keys(spec ?? {}).find((one) => !known.includes(one));
  return name === undefined ? undefined : `json: unknown field "${name}"`;
}

function loginProblem({ provider }: Fields, profile: "C" | "L0"): string | undefined {
  if (typeof provider !== "string") return "panic: interface conversion: interface {} is nil, not string";
  const known = ["GITHUB", "GOOGLE", profile === "C" ? "OIDC" : "GITHUB_ENTERPRISE"];
  return known.includes(provider) ? undefined : `unsupported provider ${provider}`;
}

function filestoreProblem({ type, config }: Fields): string | undefined {
  const { endpoint, bucket, autoCreateBucket } = fieldsOf(config);
  if (type === "GCS" || type === "S3") return undefined;
  if (type !== "MINIO") return `unknown filestore type "${text(type)}"`;
  return endpointProblem(text(endpoint)) ?? (autoCreateBucket ? bucketProblem(text(bucket)) : undefined);
}

function bucketProblem(bucket: string): string | undefined {
  const isName = /^[a-z0-9][a-z0-9._:-]+[a-z0-9]$/i.test(bucket) && bucket.length <= 63;
  if (isName && !/\.\.|-\.|\.-/.test(bucket) && !/^[\d.]+$/.test(bucket)) return undefined;
  return "Bucket name contains invalid characters";
}

function datastoreProblem(
  { type, config }: Fields,
  profile: "C" | "L0",
  program: Started["program"],
): string | undefined {
  const { url, database, usernameFile, passwordFile } = fieldsOf(config);
  if (type === "FIRESTORE") return undefined;
  if (type === "MONGODB" && profile === "L0") return mongoProblem(text(url));
  if (type !== "MYSQL" || profile === "L0") return `unknown datastore type "${text(type)}"`;
  const hasFiles = Boolean(usernameFile && passwordFile);
  return dsnProblem({ url: text(url), database: text(database), hasFiles }, program);
}

function collectorProblem({ application, deployment }: Fields): string | undefined {
  const schedules = [application, deployment]
    .map(fieldsOf)
    .filter(({ enabled, schedule }) => enabled !== false && text(schedule) !== "")
    .map(({ schedule }) => text(schedule));
  return firstOf(...schedules.map((schedule) => () => cronProblem(schedule)));
}

function pipedCrash(spec: Fields, { profile }: Started): string | undefined {
  const { git, secretManagement, sealedSecretManagement, notifications, syncInterval } = spec;
  const needed = [
    "projectID",
    "pipedID",
    "pipedKeyFile",
    "apiAddress",
    ...(profile === "L0" ? ["webAddress"] : []),
  ];
  const { sshKeyData, password } = fieldsOf(git);
  const secrets = fieldsOf(secretManagement ?? sealedSecretManagement);
  return firstOf(
    () => {
      const missing = needed.find((name) => text(spec[name]) === "");
      return missing && `${missing} must be set`;
    },
    () => durationProblem(syncInterval),
    () => base64Problem(text(sshKeyData)) ?? base64Problem(text(password)),
    () =>
      /KMS/.test(text(secrets.type)) ? `type "${text(secrets.type)}" is not implemented yet` : undefined,
    () => base64Problem(text(fieldsOf(secrets.config).privateKeyData)),
    () => routeProblem(fieldsOf(notifications)),
  );
}

function routeProblem({ routes, receivers }: Fields): string | undefined {
  const known = listOf(receivers).map((receiver) => fieldsOf(receiver).name);
  const orphan = listOf(routes)
    .map(fieldsOf)
    .find(({ receiver }) => !known.includes(receiver));
  return orphan && `missing receiver ${text(orphan.receiver)} that is used in route ${text(orphan.name)}`;
}

function base64Problem(value: string): string | undefined {
  const joined = value.split(/[\r\n]/).join("");
  const isWhole = Buffer.from(joined, "base64").toString("base64").length === joined.length;
  return isWhole && !/[^A-Za-z0-9+/=]/.test(joined) ? undefined : "illegal base64 data";
}

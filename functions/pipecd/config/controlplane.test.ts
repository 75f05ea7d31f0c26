import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { ControlPlane } from "../kinds.ts";
import type { Profile } from "../profile.ts";
import { controlPlaneConfig } from "./controlplane.ts";
import { ConfigError } from "./problems.ts";
import { ignoredLogins } from "./sso.ts";

type Spec = NonNullable<ControlPlane["spec"]>;
type Config = Spec["config"];

const minioConfig = { endpoint: "http://m:9000", bucket: "bucket", accessKeyFile: "/a", secretKeyFile: "/s" };
const stores = {
  L0: { datastore: { mongoDBConfig: { url: "mongodb://m", database: "d" } }, filestore: { minioConfig } },
  C: { datastore: { mysqlConfig: { url: "u@tcp(m)", database: "d" } }, filestore: { minioConfig } },
} as const;
const versions = { L0: "v0.9.0", C: "v0.57.0" } as const;

const specOf = (profile: Profile, config: Partial<Config>, rest: Partial<Spec> = {}): Spec => ({
  version: versions[profile],
  config: { ...stores[profile], ...config },
  ...rest,
});

function problemsOf(profile: Profile, config: Partial<Config>, rest?: Partial<Spec>): readonly string[] {
  try {
    controlPlaneConfig(specOf(profile, config, rest), profile);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

const rendered = (profile: Profile, config: Partial<Config>) =>
  (parse(controlPlaneConfig(specOf(profile, config), profile)) as { spec: Record<string, unknown> }).spec;

const client = { clientId: "i", clientSecret: "s" };
const sso = (fields: object): Partial<Config> => ({
  sharedSSOConfigs: [{ name: "sso", ...fields } as NonNullable<Config["sharedSSOConfigs"]>[number]],
});

describe("up to v0.9.0 rejects", () => {
  test.each<readonly [string, Partial<Config>, string]>([
    [
      "MySQL",
      { datastore: { mysqlConfig: { url: "u@tcp(m)/d" } } },
      "spec.config.datastore.mysqlConfig needs PipeCD v0.37.1 or later",
    ],
    [
      "S3",
      { filestore: { s3Config: { bucket: "bucket", region: "r" } } },
      "spec.config.filestore.s3Config needs PipeCD v0.37.1 or later",
    ],
    [
      "a prefix for Firestore collections",
      {
        datastore: {
          firestoreConfig: { namespace: "n", environment: "e", project: "p", collectionNamePrefix: "x" },
        },
      },
      "spec.config.datastore.firestoreConfig.collectionNamePrefix needs PipeCD v0.37.1 or later",
    ],
    [
      "the insight collector",
      { insightCollector: {} },
      "spec.config.insightCollector needs PipeCD v0.37.1 or later",
    ],
    [
      "OpenID Connect",
      sso({ oidc: client }),
      "spec.config.sharedSSOConfigs[0].oidc needs PipeCD v0.49.0 or later",
    ],
    [
      "the lifetime of logins",
      sso({ github: client, sessionTtl: 1 }),
      "spec.config.sharedSSOConfigs[0].sessionTtl needs PipeCD v0.41.4 or later",
    ],
    [
      "a proxy to GitHub",
      sso({ github: { ...client, proxyUrl: "http://p" } }),
      "spec.config.sharedSSOConfigs[0].github.proxyUrl needs PipeCD v0.37.1 or later",
    ],
  ])("%s", (_, config, problem) => {
    expect(problemsOf("L0", config)).toEqual([problem]);
    expect(problemsOf("C", config)).toEqual([]);
  });

  test("TLS and API keys", () => {
    const rest = { tls: { secretName: "t" }, bootstrapAPIKeys: true };
    expect(problemsOf("L0", {}, rest)).toEqual([
      "spec.tls needs PipeCD v0.37.1 or later",
      "spec.bootstrapAPIKeys needs PipeCD v0.44.0 or later",
    ]);
    expect(problemsOf("C", {}, rest)).toEqual([]);
    expect(problemsOf("L0", {}, { bootstrapAPIKeys: false })).toEqual([]);
  });
});

describe("from v0.37.1 rejects", () => {
  test.each<readonly [string, Partial<Config>, string]>([
    ["MongoDB", stores.L0, "spec.config.datastore.mongoDBConfig needs PipeCD v0.12.0 or older"],
    [
      "the provider for GitHub Enterprise",
      sso({ github: client, provider: "GITHUB_ENTERPRISE" }),
      "spec.config.sharedSSOConfigs[0].provider: GITHUB_ENTERPRISE needs PipeCD v0.9.0 or older: use GITHUB with a baseUrl",
    ],
  ])("%s", (_, config, problem) => {
    expect(problemsOf("C", config)).toEqual([problem]);
    expect(problemsOf("L0", config)).toEqual([]);
  });

  test.each(["github", "oidc"])("a proxy to %s without a supported scheme", (block) => {
    const problems = (proxyUrl: string) =>
      problemsOf("C", sso({ [block]: { ...client, proxyUrl } }), { version: "v0.57.0" });
    expect(problems("socks5://p:1080")).toEqual([]);
    expect(problems("p:3128")).toEqual([
      `spec.config.sharedSSOConfigs[0].${block}.proxyUrl: expected an address that starts with http://, https://, or socks5://, found "p:3128"`,
    ]);
  });

  test("names of claims before v0.52.0", () => {
    const config = sso({
      oidc: { ...client, rolesClaimKey: "r", usernameClaimKey: "u", avatarUrlClaimKey: "a" },
    });
    const path = "spec.config.sharedSSOConfigs[0].oidc";
    expect(problemsOf("C", config, { version: "v0.51.3" })).toEqual([
      `${path}.rolesClaimKey needs PipeCD v0.52.0 or later`,
      `${path}.usernameClaimKey needs PipeCD v0.52.0 or later`,
      `${path}.avatarUrlClaimKey needs PipeCD v0.52.0 or later`,
    ]);
    expect(problemsOf("C", config, { version: "v0.52.0" })).toEqual([]);
  });
});

describe.each(["L0", "C"] as const)("with the profile %s", (profile) => {
  test("rejects DynamoDB", () => {
    expect(problemsOf(profile, { datastore: { dynamoDbConfig: {} } })).toEqual([
      "spec.config.datastore.dynamoDbConfig: no version of PipeCD supports DynamoDB",
    ]);
  });

  test("reports missing fields of stores", () => {
    expect(problemsOf(profile, { datastore: { firestoreConfig: { project: "p" } } })).toEqual([
      "spec.config.datastore.firestoreConfig.namespace is required",
      "spec.config.datastore.firestoreConfig.environment is required",
    ]);
    expect(problemsOf(profile, { filestore: { gcsConfig: {} } })).toEqual([
      "spec.config.filestore.gcsConfig.bucket is required",
    ]);
  });

  test("derives the login provider from the block", () => {
    expect(rendered(profile, sso({ github: client })).sharedSSOConfigs).toEqual([
      { name: "sso", provider: "GITHUB", github: client },
    ]);
  });

  test("rejects Google as the only login, and ignores it in addition to another one", () => {
    const problem =
      "spec.config.sharedSSOConfigs[0].google: no version of PipeCD supports logins with Google: use github or oidc";
    expect(problemsOf(profile, sso({ google: client }))).toEqual([problem]);
    expect(problemsOf(profile, sso({ provider: "GOOGLE", google: client, github: client }))).toEqual([
      problem,
    ]);
    const both = sso({ google: client, github: client });
    expect(rendered(profile, both).sharedSSOConfigs).toEqual([
      { name: "sso", provider: "GITHUB", github: client },
    ]);
    expect(ignoredLogins(both)).toEqual(["spec.config.sharedSSOConfigs[0].google"]);
    expect(ignoredLogins(sso({ github: client }))).toEqual([]);
  });

  test("rejects a control plane without stores, and lists the supported ones", () => {
    const [datastore, filestore] = problemsOf(profile, { datastore: undefined, filestore: {} });
    expect(datastore).toMatch(
      /^spec\.config\.datastore is required and has no default: .+ or firestoreConfig$/,
    );
    expect(filestore).toMatch(/^spec\.config\.filestore is required and has no default: minioConfig/);
  });

  test("renders durations as text, and omits zero", () => {
    expect(rendered(profile, { cache: { ttl: 300 } }).cache).toEqual({ ttl: "300s" });
    expect(rendered(profile, { cache: { ttl: "5m" } }).cache).toEqual({ ttl: "5m" });
    for (const ttl of [0, "0s", "0h0m", undefined]) {
      expect(rendered(profile, { cache: { ttl } })).not.toHaveProperty("cache");
    }
  });

  test("omits empty fields", () => {
    expect(Object.keys(rendered(profile, { address: "", stateKey: undefined, cache: {} }))).toEqual([
      "datastore",
      "filestore",
    ]);
  });
});

test("MySQL needs the name of its database, and both files of its user", () => {
  const path = "spec.config.datastore.mysqlConfig";
  const problems = (mysqlConfig: NonNullable<NonNullable<Config["datastore"]>["mysqlConfig"]>) =>
    problemsOf("C", { datastore: { mysqlConfig } });
  expect(problems({ url: "u@tcp(m)/d" })).toEqual([]);
  expect(problems({ url: "u@tcp(m)" })).toEqual([
    `${path}.url: expected user:password@tcp(host:port)/database, or the field database`,
  ]);
  expect(problems({ url: "m:3306", database: "d", usernameFile: "/u" })).toEqual([
    `${path}.passwordFile is required`,
  ]);
  expect(problems({ url: "m:3306/d", usernameFile: "/u", passwordFile: "/p" })).toEqual([
    `${path}.database is required`,
    `${path}.url: expected host:port, because user and password are in files`,
  ]);
});

test("a role for S3 needs a token file", () => {
  expect(problemsOf("C", { filestore: { s3Config: { roleARN: "r" } } })).toEqual([
    "spec.config.filestore.s3Config.bucket is required",
    "spec.config.filestore.s3Config.region is required",
    "spec.config.filestore.s3Config.tokenFile is required",
  ]);
});

test("reports all problems at once", () => {
  const spec = specOf("L0", { ...stores.C, insightCollector: {} });
  expect(() => controlPlaneConfig(spec, "L0")).toThrow(
    "invalid PipeCD configuration: spec.config.datastore.mysqlConfig needs PipeCD v0.37.1 or later; spec.config.insightCollector needs PipeCD v0.37.1 or later",
  );
});

test("quotes strings that YAML 1.1 reads as another type", () => {
  const texts = [
    "on",
    "yes",
    "n",
    "0777",
    "1_000",
    "12:30:45",
    "2026-01-01",
    "1e3",
    "~",
    "null",
    "0x1f",
    "=",
    "<<",
  ];
  const text = controlPlaneConfig(specOf("C", { projects: texts.map((id) => ({ id })) }), "C");
  const parsed = parse(text, { version: "1.1" }) as { spec: { projects: unknown } };
  expect(parsed.spec.projects).toEqual(texts.map((id) => ({ id })));
});

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

describe("up to v0.9.0 there is", () => {
  test.each<readonly [string, Partial<Config>, string]>([
    [
      "no MySQL",
      { datastore: { mysqlConfig: { url: "u@tcp(m)/d" } } },
      "spec.config.datastore.mysqlConfig needs PipeCD v0.37.1 or later",
    ],
    [
      "no S3",
      { filestore: { s3Config: { bucket: "bucket", region: "r" } } },
      "spec.config.filestore.s3Config needs PipeCD v0.37.1 or later",
    ],
    [
      "no prefix of Firestore's collections",
      {
        datastore: {
          firestoreConfig: { namespace: "n", environment: "e", project: "p", collectionNamePrefix: "x" },
        },
      },
      "spec.config.datastore.firestoreConfig.collectionNamePrefix needs PipeCD v0.37.1 or later",
    ],
    [
      "no collector of insights",
      { insightCollector: {} },
      "spec.config.insightCollector needs PipeCD v0.37.1 or later",
    ],
    [
      "no OpenID Connect",
      sso({ oidc: client }),
      "spec.config.sharedSSOConfigs[0].oidc needs PipeCD v0.49.0 or later",
    ],
    [
      "no length of logins",
      sso({ github: client, sessionTtl: 1 }),
      "spec.config.sharedSSOConfigs[0].sessionTtl needs PipeCD v0.41.4 or later",
    ],
    [
      "no proxy to GitHub",
      sso({ github: { ...client, proxyUrl: "http://p" } }),
      "spec.config.sharedSSOConfigs[0].github.proxyUrl needs PipeCD v0.37.1 or later",
    ],
  ])("%s", (_, config, problem) => {
    expect(problemsOf("L0", config)).toEqual([problem]);
    expect(problemsOf("C", config)).toEqual([]);
  });

  test("neither TLS nor API keys", () => {
    const rest = { tls: { secretName: "t" }, bootstrapAPIKeys: true };
    expect(problemsOf("L0", {}, rest)).toEqual([
      "spec.tls needs PipeCD v0.37.1 or later",
      "spec.bootstrapAPIKeys needs PipeCD v0.44.0 or later",
    ]);
    expect(problemsOf("C", {}, rest)).toEqual([]);
    expect(problemsOf("L0", {}, { bootstrapAPIKeys: false })).toEqual([]);
  });
});

describe("from v0.37.1 there is", () => {
  test.each<readonly [string, Partial<Config>, string]>([
    ["no MongoDB", stores.L0, "spec.config.datastore.mongoDBConfig needs PipeCD v0.12.0 or older"],
    [
      "no provider for GitHub Enterprise alone",
      sso({ github: client, provider: "GITHUB_ENTERPRISE" }),
      "spec.config.sharedSSOConfigs[0].provider: GITHUB_ENTERPRISE needs PipeCD v0.9.0 or older: use GITHUB with a baseUrl",
    ],
  ])("%s", (_, config, problem) => {
    expect(problemsOf("C", config)).toEqual([problem]);
    expect(problemsOf("L0", config)).toEqual([]);
  });

  test.each(["github", "oidc"])("a proxy to %s over HTTP or SOCKS alone", (block) => {
    const problems = (proxyUrl: string) =>
      problemsOf("C", sso({ [block]: { ...client, proxyUrl } }), { version: "v0.57.0" });
    expect(problems("socks5://p:1080")).toEqual([]);
    expect(problems("p:3128")).toEqual([
      `spec.config.sharedSSOConfigs[0].${block}.proxyUrl: expected an address that begins with http:// or https:// or socks5://, found "p:3128"`,
    ]);
  });

  test("names of claims only later", () => {
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
  test("DynamoDB is refused", () => {
    expect(problemsOf(profile, { datastore: { dynamoDbConfig: {} } })).toEqual([
      "spec.config.datastore.dynamoDbConfig: no version of PipeCD can use DynamoDB",
    ]);
  });

  test("what a store can not be without is needed", () => {
    expect(problemsOf(profile, { datastore: { firestoreConfig: { project: "p" } } })).toEqual([
      "spec.config.datastore.firestoreConfig.namespace is needed",
      "spec.config.datastore.firestoreConfig.environment is needed",
    ]);
    expect(problemsOf(profile, { filestore: { gcsConfig: {} } })).toEqual([
      "spec.config.filestore.gcsConfig.bucket is needed",
    ]);
  });

  test("providers of logins are named after their block", () => {
    expect(rendered(profile, sso({ github: client })).sharedSSOConfigs).toEqual([
      { name: "sso", provider: "GITHUB", github: client },
    ]);
  });

  test("a login with Google alone is refused, and ignored beside another one", () => {
    const problem =
      "spec.config.sharedSSOConfigs[0].google: no version of PipeCD can log in with Google: use github or oidc";
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

  test("a control plane without stores is refused with the stores that it can have", () => {
    const [datastore, filestore] = problemsOf(profile, { datastore: undefined, filestore: {} });
    expect(datastore).toMatch(
      /^spec\.config\.datastore is needed, and has no default: .+ or firestoreConfig$/,
    );
    expect(filestore).toMatch(/^spec\.config\.filestore is needed, and has no default: minioConfig/);
  });

  test("lengths of time are text, and left out where they are nothing", () => {
    expect(rendered(profile, { cache: { ttl: 300 } }).cache).toEqual({ ttl: "300s" });
    expect(rendered(profile, { cache: { ttl: "5m" } }).cache).toEqual({ ttl: "5m" });
    for (const ttl of [0, "0s", "0h0m", undefined]) {
      expect(rendered(profile, { cache: { ttl } })).not.toHaveProperty("cache");
    }
  });

  test("what is empty is left out", () => {
    expect(Object.keys(rendered(profile, { address: "", stateKey: undefined, cache: {} }))).toEqual([
      "datastore",
      "filestore",
    ]);
  });
});

test("MySQL has the name of its database, and both files of its user", () => {
  const path = "spec.config.datastore.mysqlConfig";
  const problems = (mysqlConfig: NonNullable<NonNullable<Config["datastore"]>["mysqlConfig"]>) =>
    problemsOf("C", { datastore: { mysqlConfig } });
  expect(problems({ url: "u@tcp(m)/d" })).toEqual([]);
  expect(problems({ url: "u@tcp(m)" })).toEqual([
    `${path}.url: expected user:password@tcp(host:port)/database, or the name of the database in the field database`,
  ]);
  expect(problems({ url: "m:3306", database: "d", usernameFile: "/u" })).toEqual([
    `${path}.passwordFile is needed`,
  ]);
  expect(problems({ url: "m:3306/d", usernameFile: "/u", passwordFile: "/p" })).toEqual([
    `${path}.database is needed`,
    `${path}.url: expected host:port, for user and password are in files`,
  ]);
});

test("a role of S3 and its token belong together", () => {
  expect(problemsOf("C", { filestore: { s3Config: { roleARN: "r" } } })).toEqual([
    "spec.config.filestore.s3Config.bucket is needed",
    "spec.config.filestore.s3Config.region is needed",
    "spec.config.filestore.s3Config.tokenFile is needed",
  ]);
});

test("all problems are said at once", () => {
  const spec = specOf("L0", { ...stores.C, insightCollector: {} });
  expect(() => controlPlaneConfig(spec, "L0")).toThrow(
    "PipeCD cannot have this configuration: spec.config.datastore.mysqlConfig needs PipeCD v0.37.1 or later; spec.config.insightCollector needs PipeCD v0.37.1 or later",
  );
});

test("text that YAML 1.1 takes for something else stays text", () => {
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

/** The configuration file of a control plane. */
import type { ssoBlockOf } from "../kinds/controlplaneconfig.ts";
import type { ControlPlane, ControlPlaneConfig, Datastore, Filestore, SharedSSOConfig } from "../kinds.ts";
import type { Profile } from "../profile.ts";
import { documentOf, durationOf, given, someGiven, variantOf } from "./fields.ts";
import { Problems } from "./problems.ts";

type Spec = NonNullable<ControlPlane["spec"]>;
type ConfigOf<Union, Name extends keyof Union> = Partial<NonNullable<Union[Name]>>;

/** A datastore as PipeCD reads it. */
type RenderedDatastore =
  | { readonly type: "FIRESTORE"; readonly config: ConfigOf<Datastore, "firestoreConfig"> }
  | { readonly type: "DYNAMODB"; readonly config: Record<string, never> }
  | { readonly type: "MONGODB"; readonly config: ConfigOf<Datastore, "mongoDBConfig"> }
  | { readonly type: "MYSQL"; readonly config: ConfigOf<Datastore, "mysqlConfig"> };

/** A filestore as PipeCD reads it. */
type RenderedFilestore =
  | { readonly type: "GCS"; readonly config: ConfigOf<Filestore, "gcsConfig"> }
  | { readonly type: "S3"; readonly config: ConfigOf<Filestore, "s3Config"> }
  | { readonly type: "MINIO"; readonly config: ConfigOf<Filestore, "minioConfig"> };

const at = "spec.config";

/** The text of `control-plane-config.yaml`. Throws a `ConfigError` for what this version of PipeCD can not have. */
export function controlPlaneConfig(spec: Spec, profile: Profile): string {
  const problems = new Problems(profile, spec.version);
  problems.from("v0.49.0", "spec", {
    tls: spec.tls,
    bootstrapAPIKeys: spec.bootstrapAPIKeys || undefined,
  });
  const { config } = spec;
  const rendered = given({
    address: config.address,
    stateKey: config.stateKey,
    datastore: datastoreOf(config.datastore, problems),
    filestore: filestoreOf(config.filestore, problems),
    cache: someGiven({ ttl: durationOf(config.cache?.ttl) }),
    insightCollector: insightCollectorOf(config, problems),
    projects: config.projects?.map(({ id, desc, staticAdmin }) =>
      given({
        id,
        desc,
        staticAdmin: staticAdmin && {
          username: staticAdmin.username,
          passwordHash: staticAdmin.passwordHash,
        },
      }),
    ),
    sharedSSOConfigs: config.sharedSSOConfigs?.map((sso, index) =>
      ssoOf(sso, `${at}.sharedSSOConfigs[${index}]`, problems),
    ),
  });
  problems.end();
  return documentOf("ControlPlane", rendered);
}

function datastoreOf(datastore: Datastore, problems: Problems): RenderedDatastore {
  const path = `${at}.datastore`;
  const variant = variantOf(datastore);
  switch (variant.type) {
    case "firestoreConfig": {
      const { namespace, environment, collectionNamePrefix, project, credentialsFile } = variant.config;
      problems.needed(`${path}.firestoreConfig`, { namespace, environment, project });
      problems.from("v0.49.0", `${path}.firestoreConfig`, { collectionNamePrefix });
      return {
        type: "FIRESTORE",
        config: given({ namespace, environment, collectionNamePrefix, project, credentialsFile }),
      };
    }
    case "dynamoDbConfig":
      problems.add(`${path}.dynamoDbConfig: no version of PipeCD can use DynamoDB`);
      return { type: "DYNAMODB", config: {} };
    case "mongoDBConfig": {
      const { url, database, usernameFile, passwordFile } = variant.config;
      problems.until("v0.12.0", path, { mongoDBConfig: variant.config });
      return { type: "MONGODB", config: given({ url, database, usernameFile, passwordFile }) };
    }
    case "mysqlConfig":
      problems.from("v0.49.0", path, { mysqlConfig: variant.config });
      return { type: "MYSQL", config: mysqlOf(variant.config, problems) };
  }
}

function mysqlOf(
  { url, database, usernameFile, passwordFile }: NonNullable<Datastore["mysqlConfig"]>,
  problems: Problems,
): ConfigOf<Datastore, "mysqlConfig"> {
  const path = `${at}.datastore.mysqlConfig`;
  // PipeCD reads neither file unless all three are there.
  if (usernameFile || passwordFile) problems.needed(path, { usernameFile, passwordFile, database });
  else if (!database && !url.includes("/")) {
    problems.add(`${path}: expected a database, or a url that ends with it`);
  }
  return given({ url, database, usernameFile, passwordFile });
}

function filestoreOf(filestore: Filestore, problems: Problems): RenderedFilestore {
  const path = `${at}.filestore`;
  const variant = variantOf(filestore);
  switch (variant.type) {
    case "gcsConfig": {
      const { bucket, credentialsFile } = variant.config;
      problems.needed(`${path}.gcsConfig`, { bucket });
      return { type: "GCS", config: given({ bucket, credentialsFile }) };
    }
    case "s3Config": {
      const { bucket, region, profile, credentialsFile, roleARN, tokenFile } = variant.config;
      problems.from("v0.49.0", path, { s3Config: variant.config });
      problems.needed(`${path}.s3Config`, { bucket, region });
      // PipeCD uses neither without the other.
      if (roleARN || tokenFile) problems.needed(`${path}.s3Config`, { roleARN, tokenFile });
      return {
        type: "S3",
        config: given({ bucket, region, profile, credentialsFile, roleARN, tokenFile }),
      };
    }
    case "minioConfig": {
      const { endpoint, bucket, accessKeyFile, secretKeyFile, autoCreateBucket } = variant.config;
      return {
        type: "MINIO",
        config: given({ endpoint, bucket, accessKeyFile, secretKeyFile, autoCreateBucket }),
      };
    }
  }
}

function insightCollectorOf({ insightCollector }: ControlPlaneConfig, problems: Problems) {
  if (insightCollector === undefined) return undefined;
  problems.from("v0.49.0", at, { insightCollector });
  const { application, deployment } = insightCollector;
  return someGiven({
    application: application && someGiven({ enabled: application.enabled, schedule: application.schedule }),
    deployment:
      deployment &&
      someGiven({
        enabled: deployment.enabled,
        schedule: deployment.schedule,
        chunkMaxCount: deployment.chunkMaxCount,
      }),
  });
}

/** The provider of a block where none is named. */
const providerOf = { github: "GITHUB", google: "GOOGLE", oidc: "OIDC" } as const;
type Sso = {
  readonly name: string;
  readonly provider: keyof typeof ssoBlockOf;
  readonly sessionTtl?: number;
};
type SsoBlock<Name extends keyof SharedSSOConfig> = NonNullable<SharedSSOConfig[Name]>;
type RenderedSso = Partial<Sso> &
  (
    | { readonly github: Partial<SsoBlock<"github">> }
    | { readonly google: Partial<SsoBlock<"google">> }
    | { readonly oidc: Partial<SsoBlock<"oidc">> }
  );

function ssoOf(sso: SharedSSOConfig, path: string, problems: Problems): RenderedSso {
  const { name, sessionTtl } = sso;
  problems.from("v0.49.0", path, { sessionTtl });
  const variant = variantOf(sso, "name", "provider", "sessionTtl");
  const provider = sso.provider ?? providerOf[variant.type];
  if (provider === "GITHUB_ENTERPRISE" && problems.profile === "C") {
    problems.add(
      `${path}.provider: GITHUB_ENTERPRISE needs PipeCD v0.9.0 or older: use GITHUB with a baseUrl`,
    );
  }
  const common = given({ name, provider, sessionTtl }) as Partial<Sso>;
  switch (variant.type) {
    case "github": {
      const { clientId, clientSecret, baseUrl, uploadUrl, proxyUrl } = variant.config;
      problems.from("v0.49.0", `${path}.github`, { proxyUrl });
      return { ...common, github: given({ clientId, clientSecret, baseUrl, uploadUrl, proxyUrl }) };
    }
    case "google": {
      const { clientId, clientSecret } = variant.config;
      return { ...common, google: { clientId, clientSecret } };
    }
    case "oidc":
      problems.from("v0.49.0", path, { oidc: variant.config });
      return { ...common, oidc: oidcOf(variant.config, path, problems) };
  }
}

function oidcOf(oidc: SsoBlock<"oidc">, path: string, problems: Problems): Partial<SsoBlock<"oidc">> {
  const { rolesClaimKey, usernameClaimKey, avatarUrlClaimKey } = oidc;
  if (problems.profile === "C") {
    problems.from("v0.52.0", `${path}.oidc`, { rolesClaimKey, usernameClaimKey, avatarUrlClaimKey });
  }
  return given({
    clientId: oidc.clientId,
    clientSecret: oidc.clientSecret,
    issuer: oidc.issuer,
    redirectUri: oidc.redirectUri,
    authorizationEndpoint: oidc.authorizationEndpoint,
    tokenEndpoint: oidc.tokenEndpoint,
    userInfoEndpoint: oidc.userInfoEndpoint,
    proxyUrl: oidc.proxyUrl,
    scopes: oidc.scopes,
    rolesClaimKey,
    usernameClaimKey,
    avatarUrlClaimKey,
  });
}

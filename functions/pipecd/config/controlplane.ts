/** The configuration file of a control plane. */
import type { ControlPlane, ControlPlaneConfig, Datastore, Filestore } from "../kinds.ts";
import { firstOfC, firstWithAPIKeys, type Profile } from "../profile.ts";
import { scheduleProblem } from "./cron.ts";
import { documentOf } from "./document.ts";
import { bucketProblem, endpointProblem } from "./miniourl.ts";
import { mongoProblem } from "./mongourl.ts";
import { mysqlProblem } from "./mysqlurl.ts";
import { Problems } from "./problems.ts";
import { durationOf, given, someGiven, variantOf } from "./rendering.ts";
import { ssoOf } from "./sso.ts";

type Spec = NonNullable<ControlPlane["spec"]>;
type ConfigOf<Union, Name extends keyof Union> = Partial<NonNullable<Union[Name]>>;

/** A datastore in PipeCD's format. */
type RenderedDatastore =
  | { readonly type: "FIRESTORE"; readonly config: ConfigOf<Datastore, "firestoreConfig"> }
  | { readonly type: "DYNAMODB"; readonly config: Record<string, never> }
  | { readonly type: "MONGODB"; readonly config: ConfigOf<Datastore, "mongoDBConfig"> }
  | { readonly type: "MYSQL"; readonly config: ConfigOf<Datastore, "mysqlConfig"> };

/** A filestore in PipeCD's format. */
type RenderedFilestore =
  | { readonly type: "GCS"; readonly config: ConfigOf<Filestore, "gcsConfig"> }
  | { readonly type: "S3"; readonly config: ConfigOf<Filestore, "s3Config"> }
  | { readonly type: "MINIO"; readonly config: ConfigOf<Filestore, "minioConfig"> };

const at = "spec.config";

/** The content of `control-plane-config.yaml`. Throws a `ConfigError` for fields that this version of PipeCD does not support. */
export function controlPlaneConfig(spec: Spec, profile: Profile): string {
  const problems = new Problems(profile, spec.version);
  problems.from(firstOfC, "spec", { tls: spec.tls });
  problems.from(firstWithAPIKeys, "spec", { bootstrapAPIKeys: spec.bootstrapAPIKeys || undefined });
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
  problems.throwIfAny();
  return documentOf("ControlPlane", rendered);
}

/** PipeCD has no default stores: without one, the server exits at startup. */
function isStoreGiven<Store extends object>(
  store: Store | undefined,
  path: string,
  expected: string,
  problems: Problems,
): store is Store {
  const isGiven = Object.values(store ?? {}).some((variant) => variant !== undefined);
  if (!isGiven) problems.add(`${path} is required and has no default: ${expected}`);
  return isGiven;
}

function datastoreOf(datastore: Datastore | undefined, problems: Problems): RenderedDatastore | undefined {
  const path = `${at}.datastore`;
  const variants =
    problems.profile === "L0" ? "mongoDBConfig or firestoreConfig" : "mysqlConfig or firestoreConfig";
  if (!isStoreGiven(datastore, path, variants, problems)) return undefined;
  const variant = variantOf(datastore);
  switch (variant.type) {
    case "firestoreConfig": {
      const { namespace, environment, collectionNamePrefix, project, credentialsFile } = variant.config;
      problems.needed(`${path}.firestoreConfig`, { namespace, environment, project });
      problems.from(firstOfC, `${path}.firestoreConfig`, { collectionNamePrefix });
      return {
        type: "FIRESTORE",
        config: given({ namespace, environment, collectionNamePrefix, project, credentialsFile }),
      };
    }
    case "dynamoDbConfig":
      problems.add(`${path}.dynamoDbConfig: no version of PipeCD supports DynamoDB`);
      return { type: "DYNAMODB", config: {} };
    case "mongoDBConfig": {
      const { url, database, usernameFile, passwordFile } = variant.config;
      problems.until("v0.12.0", path, { mongoDBConfig: variant.config });
      if (problems.profile === "L0") problems.of(`${path}.mongoDBConfig.url`, mongoProblem(url));
      return { type: "MONGODB", config: given({ url, database, usernameFile, passwordFile }) };
    }
    case "mysqlConfig":
      problems.from(firstOfC, path, { mysqlConfig: variant.config });
      return { type: "MYSQL", config: mysqlOf(variant.config, problems) };
  }
}

function mysqlOf(
  { url, database, usernameFile, passwordFile }: NonNullable<Datastore["mysqlConfig"]>,
  problems: Problems,
): ConfigOf<Datastore, "mysqlConfig"> {
  const path = `${at}.datastore.mysqlConfig`;
  const hasFiles = Boolean(usernameFile || passwordFile);
  // PipeCD ignores both files unless all three fields are set.
  if (hasFiles) problems.needed(path, { usernameFile, passwordFile, database });
  const found = mysqlProblem({ url, database, hasFiles });
  if (problems.profile === "C" && found) problems.add(`${path}.${found.field}: ${found.problem}`);
  return given({ url, database, usernameFile, passwordFile });
}

function filestoreOf(filestore: Filestore | undefined, problems: Problems): RenderedFilestore | undefined {
  const path = `${at}.filestore`;
  const variants =
    problems.profile === "L0" ? "minioConfig or gcsConfig" : "minioConfig, gcsConfig, or s3Config";
  if (!isStoreGiven(filestore, path, variants, problems)) return undefined;
  const variant = variantOf(filestore);
  switch (variant.type) {
    case "gcsConfig": {
      const { bucket, credentialsFile } = variant.config;
      problems.needed(`${path}.gcsConfig`, { bucket });
      return { type: "GCS", config: given({ bucket, credentialsFile }) };
    }
    case "s3Config": {
      const { bucket, region, profile, credentialsFile, roleARN, tokenFile } = variant.config;
      problems.from(firstOfC, path, { s3Config: variant.config });
      problems.needed(`${path}.s3Config`, { bucket, region });
      // PipeCD ignores each without the other.
      if (roleARN || tokenFile) problems.needed(`${path}.s3Config`, { roleARN, tokenFile });
      return {
        type: "S3",
        config: given({ bucket, region, profile, credentialsFile, roleARN, tokenFile }),
      };
    }
    case "minioConfig": {
      const { endpoint, bucket, accessKeyFile, secretKeyFile, autoCreateBucket } = variant.config;
      problems.of(`${path}.minioConfig.endpoint`, endpointProblem(endpoint));
      problems.of(`${path}.minioConfig.bucket`, bucketProblem(bucket));
      return {
        type: "MINIO",
        config: given({ endpoint, bucket, accessKeyFile, secretKeyFile, autoCreateBucket }),
      };
    }
  }
}

function insightCollectorOf({ insightCollector }: ControlPlaneConfig, problems: Problems) {
  if (insightCollector === undefined) return undefined;
  problems.from(firstOfC, at, { insightCollector });
  const { application, deployment } = insightCollector;
  if (problems.profile === "C") {
    const path = `${at}.insightCollector`;
    problems.from("v0.40.1", `${path}.deployment`, { chunkMaxCount: deployment?.chunkMaxCount });
    // Older versions read false as unset, which defaults to true.
    if (application?.enabled === false)
      problems.from("v0.41.0", `${path}.application`, { "enabled: false": true });
  }
  for (const [name, collector] of Object.entries({ application, deployment })) {
    if (!collector?.schedule || collector.enabled === false) continue;
    problems.of(`${at}.insightCollector.${name}.schedule`, scheduleProblem(collector.schedule));
  }
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

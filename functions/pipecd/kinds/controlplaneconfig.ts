/** `spec.config` of a ControlPlane. Unions have one optional field per variant. */
import { cel, z } from "denrei/kinds";
import { atMostOne, duration, maxEntries, nonEmpty, plaintextWarning, text, texts } from "./fields.ts";

const usernameFile = text.optional().describe("Path of a file with the user name.");
const passwordFile = text.optional().describe("Path of a file with the password.");
const ignoredByMongo = "Ignored by PipeCD v0.9.0: put user and password into the url.";
const credentialsFile = text.optional().describe("Path of a file with the credentials.");

const datastore = atMostOne(
  z.object({
    firestoreConfig: z
      .object({
        namespace: text.optional(),
        environment: text.optional(),
        collectionNamePrefix: text.optional().describe("Since PipeCD v0.37.1."),
        project: text.optional(),
        credentialsFile,
      })
      .optional()
      .describe("Cloud Firestore."),
    dynamoDbConfig: z.object({}).optional().describe("Not supported by any version of PipeCD."),
    mongoDBConfig: z
      .object({
        url: nonEmpty.describe(`mongodb://user:password@host:27017/. ${plaintextWarning}`),
        database: nonEmpty,
        usernameFile: text.optional().describe(ignoredByMongo),
        passwordFile: text.optional().describe(ignoredByMongo),
      })
      .optional()
      .describe("MongoDB: needs PipeCD v0.12.0 or older."),
    mysqlConfig: z
      .object({
        url: nonEmpty.describe(
          `host:3306 with usernameFile, passwordFile, and database, or user:password@tcp(host:3306). ${plaintextWarning}`,
        ),
        database: text.optional().describe("Name of the database, if the url does not have it."),
        usernameFile,
        passwordFile,
      })
      .optional()
      .describe("MySQL: needs PipeCD v0.37.1 or later."),
  }),
  "firestoreConfig",
  "dynamoDbConfig",
  "mongoDBConfig",
  "mysqlConfig",
);
/** The store of a control plane's objects. */
export type Datastore = z.infer<typeof datastore>;

const schemeMissing = "expected an address with a scheme, such as http://minio-sample-minio:9000";
const scheme = "^[A-Za-z][A-Za-z0-9+.-]*://";
const endpoint = nonEmpty
  .max(2048)
  .refine((text) => new RegExp(scheme).test(text), schemeMissing)
  .meta(cel({ rule: `self.matches('${scheme}')`, message: schemeMissing }));

const filestore = atMostOne(
  z.object({
    gcsConfig: z
      .object({ bucket: text.optional(), credentialsFile })
      .optional()
      .describe("Google Cloud Storage."),
    s3Config: z
      .object({
        bucket: text.optional(),
        region: text.optional(),
        profile: text.optional(),
        credentialsFile,
        roleARN: text.optional(),
        tokenFile: text.optional(),
      })
      .optional()
      .describe("Amazon S3: needs PipeCD v0.37.1 or later."),
    minioConfig: z
      .object({
        endpoint: endpoint.describe("Address with a scheme, such as http://minio-sample-minio:9000."),
        bucket: nonEmpty,
        accessKeyFile: nonEmpty.describe("Path of a file with the access key."),
        secretKeyFile: nonEmpty.describe("Path of a file with the secret key."),
        autoCreateBucket: z.boolean().optional().describe("Whether the server creates the bucket."),
      })
      .optional()
      .describe("MinIO."),
  }),
  "gcsConfig",
  "s3Config",
  "minioConfig",
);
/** The store of a control plane's files. */
export type Filestore = z.infer<typeof filestore>;

const client = { clientId: nonEmpty, clientSecret: nonEmpty.describe(plaintextWarning) };
const proxyUrl = text.optional().describe("Since PipeCD v0.37.1.");
const ssoFields = z.object({
  name: nonEmpty,
  provider: z
    .enum(["GITHUB", "GITHUB_ENTERPRISE", "GOOGLE", "OIDC"])
    .optional()
    .describe(
      "Default: the provider of the given block; github if there are several. GITHUB_ENTERPRISE needs PipeCD v0.9.0 or older, OIDC v0.49.0 or later. No version of PipeCD supports GOOGLE.",
    ),
  sessionTtl: z.int().min(1).optional().describe("Lifetime of a login in hours. Since PipeCD v0.41.4."),
  github: z.object({ ...client, baseUrl: text.optional(), uploadUrl: text.optional(), proxyUrl }).optional(),
  google: z
    .object(client)
    .optional()
    .describe("Not supported by any version of PipeCD: ignored if another block is set, rejected otherwise."),
  oidc: z
    .object({
      ...client,
      issuer: text.optional(),
      redirectUri: text.optional(),
      authorizationEndpoint: text.optional(),
      tokenEndpoint: text.optional(),
      userInfoEndpoint: text.optional(),
      proxyUrl,
      scopes: texts.optional(),
      rolesClaimKey: text.optional(),
      usernameClaimKey: text.optional(),
      avatarUrlClaimKey: text.optional(),
    })
    .optional()
    .describe("OpenID Connect: needs PipeCD v0.49.0 or later."),
});
const ssoBlocks = ["github", "google", "oidc"] as const;
const oneBlock = `expected one of ${ssoBlocks.join(", ")}`;
const blockOfProvider = "expected the block of the provider: github, google, or oidc";
/** The block of each provider. */
export const ssoBlockOf = {
  GITHUB: "github",
  GITHUB_ENTERPRISE: "github",
  GOOGLE: "google",
  OIDC: "oidc",
} as const;
const sharedSSOConfig = ssoFields
  .refine((sso) => ssoBlocks.filter((block) => sso[block] !== undefined).length >= 1, oneBlock)
  .refine((sso) => sso.provider === undefined || sso[ssoBlockOf[sso.provider]] !== undefined, blockOfProvider)
  .meta(
    cel(
      {
        rule: `${ssoBlocks.map((name) => `has(self.${name})`).join(" || ")}`,
        message: oneBlock,
      },
      {
        rule: "!has(self.provider) || (self.provider == 'OIDC' ? has(self.oidc) : self.provider == 'GOOGLE' ? has(self.google) : has(self.github))",
        message: blockOfProvider,
      },
    ),
  );
/** A single sign-on configuration that projects share. */
export type SharedSSOConfig = z.infer<typeof sharedSSOConfig>;

const notSchedule = "expected five cron fields such as '0 * * * *', or a descriptor such as @daily";
const scheduleShape = String.raw`^((CRON_)?TZ=\S* +)?(@.+|\s*[^@\s]\S*(\s+\S+){4}\s*)$|^$`;
const schedule = text
  .max(1024)
  .refine((value) => new RegExp(scheduleShape, "u").test(value), notSchedule)
  .meta(cel({ rule: `self.matches(r'${scheduleShape}')`, message: notSchedule }));

const collector = (usual: string) => ({
  enabled: z.boolean().optional().describe("Default: true."),
  schedule: schedule
    .optional()
    .describe(
      `Schedule in UTC: five cron fields, a descriptor such as @hourly or @daily, or @every 2h. Default: ${usual}.`,
    ),
});

/** Schema of `spec.config`. */
export const controlPlaneConfig = z.object({
  address: text.optional().describe("Public address, for links and login redirects."),
  stateKey: text.optional().describe(`Signs the OAuth state of logins. ${plaintextWarning}`),
  datastore: datastore.optional().describe("Store of objects. Required: PipeCD has no default."),
  filestore: filestore.optional().describe("Store of files. Required: PipeCD has no default."),
  cache: z
    .object({
      ttl: duration
        .optional()
        .describe("Lifetime of cached entries: seconds, or text such as 5m. Default: 5m."),
    })
    .optional(),
  insightCollector: z
    .object({
      application: z.object(collector("0 * * * *")).optional(),
      deployment: z
        .object({
          ...collector("30 * * * *"),
          chunkMaxCount: z.int().min(1).optional().describe("Default: 1000. Since PipeCD v0.40.1."),
        })
        .optional(),
    })
    .optional()
    .describe("Collection of metrics for insights. Since PipeCD v0.37.1."),
  projects: z
    .array(
      z.object({
        id: nonEmpty,
        desc: text.optional(),
        staticAdmin: z
          .object({
            username: nonEmpty,
            passwordHash: nonEmpty.describe(`A bcrypt hash. ${plaintextWarning}`),
          })
          .optional()
          .describe("An administrator who logs in with a password."),
      }),
    )
    .max(maxEntries)
    .optional()
    .describe("Static projects."),
  sharedSSOConfigs: z
    .array(sharedSSOConfig)
    .max(maxEntries)
    .optional()
    .describe("Single sign-on configurations that projects share."),
});
export type ControlPlaneConfig = z.infer<typeof controlPlaneConfig>;

/** The protocol profile of a PipeCD version, and its images. */
import { defaultVersions } from "./defaultversions.ts";

/** `L0` is v0.8.0 to v0.9.0, `C` is v0.37.1 and later. Versions between them have no profile. */
export type Profile = "L0" | "C";

/** The numbers of a version. */
export interface Version {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
}

const versionText = /^v(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(?:-[0-9A-Za-z][0-9A-Za-z.-]*)?$/;

/** The numbers of `v0.57.0` or `v0.57.0-rc1`; undefined for anything else. */
export function versionOf(text: string): Version | undefined {
  const [matched, major, minor, patch] = versionText.exec(text) ?? [];
  if (matched === undefined) return undefined;
  return { major: Number(major), minor: Number(minor), patch: Number(patch) };
}

/** Whether a version is the given one or later. A pre-release counts as its release. */
export const isAtLeast = (version: Version, major: number, minor: number, patch = 0): boolean =>
  version.major !== major
    ? version.major > major
    : version.minor !== minor
      ? version.minor > minor
      : version.patch >= patch;

/** The first version of the profile C. docs/pipecd.md lists what rules out older ones. */
export const firstOfC = "v0.37.1";

/** The first version with usable API keys: before it, the APIService cannot register pipeds or change applications. */
export const firstWithAPIKeys = "v0.44.0";

/** The version that introduced a feature. */
export type FirstVersion = `v0.${number}.${number}`;

/** Whether a version of the profile C is the given one or later. */
export function hasReached(version: string, first: FirstVersion): boolean {
  const [found, desired] = [versionOf(version), versionOf(first)];
  return found !== undefined && desired !== undefined && isAtLeast(found, 0, desired.minor, desired.patch);
}

/** Whether a version is PipeCD v1, which has agents only. They deploy with plugins. */
export const isV1 = (version: string): boolean => versionOf(version)?.major === 1;

const supported = `expected v0.8.0 to v0.9.0, or ${firstOfC} and later v0 versions`;

/** The profile of a version, or why it has none. */
export function profileOf(
  version: string,
): { readonly profile: Profile; readonly problem?: never } | { readonly problem: string } {
  const found = versionOf(version);
  if (found === undefined) {
    return {
      problem: `${JSON.stringify(version)} is not a version of PipeCD: ${supported}, written like v0.57.0`,
    };
  }
  if (found.major === 0 && hasReached(version, firstOfC)) return { profile: "C" };
  if (isAtLeast(found, 0, 8) && !isAtLeast(found, 0, 9, 1)) return { profile: "L0" };
  const mongo =
    isAtLeast(found, 0, 9, 1) && !isAtLeast(found, 0, 12, 1)
      ? "; to keep a MongoDB, which needs v0.12.0 or older, use v0.9.0"
      : "";
  return { problem: `PipeCD ${version} is not supported: ${supported}${mongo}` };
}

/** Environment variables that replace image repositories, for example with a mirror. */
export const repositoryVariables = {
  server: "DENREI_PIPECD_SERVER_IMAGE_REPOSITORY",
  ops: "DENREI_PIPECD_OPS_IMAGE_REPOSITORY",
  piped: "DENREI_PIPECD_PIPED_IMAGE_REPOSITORY",
  pipedV1: "DENREI_PIPECD_PIPED_V1_IMAGE_REPOSITORY",
  gateway: "DENREI_PIPECD_GATEWAY_IMAGE_REPOSITORY",
  cache: "DENREI_PIPECD_CACHE_IMAGE_REPOSITORY",
  minio: "DENREI_PIPECD_MINIO_IMAGE_REPOSITORY",
  mongo: "DENREI_PIPECD_MONGO_IMAGE_REPOSITORY",
  mysql: "DENREI_PIPECD_MYSQL_IMAGE_REPOSITORY",
} as const;
type Part = keyof typeof repositoryVariables;

export type Env = Readonly<Record<string, string | undefined>>;

const imageOf = (part: Part, repository: string, tag: string, env: Env): string =>
  `${env[repositoryVariables[part]] || repository}:${tag}`;

/** Images of PipeCD's components. */
export interface Images {
  readonly server: string;
  readonly ops: string;
  readonly piped: string;
}

/** The images of a version. PipeCD has moved its repositories several times. */
export function imagesOf(profile: Profile, version: string, env: Env = process.env): Images {
  const { server, ops, piped } = repositoriesOf(profile, version);
  return {
    server: imageOf("server", server, version, env),
    ops: imageOf("ops", ops, version, env),
    piped: isV1(version)
      ? imageOf("pipedV1", "ghcr.io/pipe-cd/pipedv1-exp", version, env)
      : imageOf("piped", piped, version, env),
  };
}

function repositoriesOf(profile: Profile, version: string): Images {
  if (profile === "L0") {
    return { server: "gcr.io/pipecd/server", ops: "gcr.io/pipecd/ops", piped: "gcr.io/pipecd/piped" };
  }
  const found = versionOf(version);
  const renamed = found !== undefined && isAtLeast(found, 0, 57, 1);
  const controlPlane = renamed ? "ghcr.io/pipe-cd/controlplane" : "ghcr.io/pipe-cd/pipecd";
  return { server: controlPlane, ops: controlPlane, piped: "ghcr.io/pipe-cd/piped" };
}

export const cacheImage = (version: string = defaultVersions.redis, env: Env = process.env): string =>
  imageOf("cache", "redis", version, env);

export const storeImage = (
  store: "minio" | "mongo" | "mysql",
  version: string = defaultVersions[store],
  env: Env = process.env,
): string => imageOf(store, store === "minio" ? "minio/minio" : store, version, env);

/** Tags of Envoy: `v1.31.0`, `v1.18-latest`, `distroless-v1.31.0`. */
const envoyText = /^(?:[a-z]+-)*v([0-9]+)\.([0-9]+)(?:\.([0-9]+))?(?:-[0-9A-Za-z.-]+)?$/;

function envoyOf(tag: string): Version | undefined {
  const [matched, major, minor, patch] = envoyText.exec(tag) ?? [];
  if (matched === undefined) return undefined;
  return { major: Number(major), minor: Number(minor), patch: Number(patch ?? 0) };
}

/** The gateway's image. Envoy published images based on Alpine up to v1.21. */
export function gatewayImage(envoyVersion: string, env: Env = process.env): string {
  const found = envoyOf(envoyVersion);
  const alpine = found !== undefined && !isAtLeast(found, 1, 22);
  return imageOf("gateway", alpine ? "envoyproxy/envoy-alpine" : "envoyproxy/envoy", envoyVersion, env);
}

/**
 * Why a version of Envoy cannot read the gateway's configuration; undefined if it can. Envoy accepts its v2 API by default
 * before v1.17, and all the v3 fields used here from v1.18.
 */
export function envoyProblem(profile: Profile, envoyVersion: string): string | undefined {
  const found = envoyOf(envoyVersion);
  const expected =
    profile === "L0"
      ? "PipeCD v0.8.0 to v0.9.0 needs Envoy v1.10.0 or later, before v1.17.0"
      : `PipeCD ${firstOfC} and later needs Envoy v1.18.0 or later`;
  if (found === undefined) {
    return `the envoyVersion ${JSON.stringify(envoyVersion)} is not a version of Envoy: ${expected}, written like ${defaultVersions.envoy[profile]}`;
  }
  const fits =
    profile === "L0"
      ? isAtLeast(found, 1, 10) && !isAtLeast(found, 1, 17)
      : isAtLeast(found, 1, 18) && found.major === 1;
  return fits ? undefined : `Envoy ${envoyVersion} cannot read the gateway's configuration: ${expected}`;
}

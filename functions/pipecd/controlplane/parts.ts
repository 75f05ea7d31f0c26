/** Gateway, server, cache, and ops of a control plane, for each version of PipeCD. Pure. */

import { defaultVersions } from "../defaultversions.ts";
import type { ControlPlane } from "../kinds.ts";
import { contentDigest } from "../kubernetes/secrets.ts";
import type { Mount } from "../kubernetes/volumes.ts";
import { configKeys, gatewayPorts, objectNames, secretKeys, serverPorts, tlsDirectory } from "../names.ts";
import { cacheImage, gatewayImage, imagesOf, type Profile } from "../profile.ts";
import { type Part, type Port, partName } from "./partobjects.ts";

/** The input of a control plane's components. */
export interface Blueprint {
  readonly plane: Pick<ControlPlane, "metadata" | "spec">;
  readonly profile: Profile;
  readonly config: string;
  readonly envoy: string;
  /** Digest of the encryption key and the content of volumes. */
  readonly secrets: string;
  /** When the namespace's own datastore became ready. It may have lost all data before that. RFC 3339. */
  readonly datastoreSince: string | undefined;
}

const folders = { config: "/etc/pipecd-config", secret: "/etc/pipecd-secret", tls: tlsDirectory };
const configFile = `--config-file=${folders.config}/${configKeys.controlPlane}`;
const healthz = { path: "/healthz", port: "admin" };

const configMount = (name: string): Mount => ({
  volume: { name, configMap: { name: objectNames.config } },
  mountPath: folders.config,
  readOnly: true,
});
const secretMount: Mount = {
  volume: { name: "embedded-pipecd-secret", secret: { secretName: objectNames.secret } },
  mountPath: folders.secret,
  readOnly: true,
};

const userMounts = ({ plane: { spec } }: Pick<Blueprint, "plane">): readonly Mount[] =>
  spec.volumeMounts ?? [];

/** Volumes whose content comes from the user: `spec.volumeMounts` and `spec.tls`. */
export const givenMounts = (plane: Pick<ControlPlane, "metadata" | "spec">): readonly Mount[] => [
  ...userMounts({ plane }),
  ...tlsMounts({ plane }),
];

const tlsMounts = ({ plane }: Pick<Blueprint, "plane">, items?: readonly string[]): readonly Mount[] => {
  const { tls } = plane.spec;
  if (tls === undefined) return [];
  const chosen = items && { items: items.map((key) => ({ key, path: key })) };
  return [
    {
      volume: { name: "pipecd-tls", secret: { secretName: tls.secretName, ...chosen } },
      mountPath: folders.tls,
      readOnly: true,
    },
  ];
};

/** Envoy, the entry point for users and pipeds. */
export function gateway(blueprint: Blueprint): Part {
  const { plane, profile, envoy, secrets } = blueprint;
  return {
    component: "gateway",
    image: gatewayImage(plane.spec.envoyVersion ?? defaultVersions.envoy[profile]),
    command: ["envoy"],
    args: ["-c", `/etc/envoy/${configKeys.envoy}`],
    ports: [
      { name: "ingress", port: gatewayPorts.ingress },
      { name: "envoy-admin", port: gatewayPorts.admin, service: "envoy-admin" },
    ],
    probe: { path: "/server_info", port: "envoy-admin", initialDelaySeconds: 15 },
    mounts: [
      {
        volume: { name: "envoy-config", configMap: { name: partName(plane.metadata.name, "gateway") } },
        mountPath: "/etc/envoy",
        readOnly: true,
      },
      ...tlsMounts(blueprint, ["ca.crt"]),
      ...userMounts(blueprint),
    ],
    // Envoy reads the authority only at startup. It uses no other Secret.
    digest: plane.spec.tls ? contentDigest(envoy, secrets) : contentDigest(envoy),
  };
}

const portsOfServer: readonly Port[] = [
  { name: "piped-api", port: serverPorts.piped, service: "piped-server" },
  { name: "web-api", port: serverPorts.web, service: "web-server" },
  { name: "http", port: serverPorts.http, service: "http" },
  { name: "admin", port: serverPorts.admin, service: "admin" },
];

/** The server that pipeds, users, and Denrei call. */
export function server(blueprint: Blueprint): Part {
  const { plane, profile, config, secrets } = blueprint;
  const { name } = plane.metadata;
  const common = [
    "--insecure-cookie=true",
    `--cache-address=${partName(name, "cache")}:6379`,
    configFile,
    `--encryption-key-file=${folders.secret}/${secretKeys.encryptionKey}`,
    "--log-encoding=humanize",
  ];
  const tls = [`--tls=true`, `--cert-file=${folders.tls}/tls.crt`, `--key-file=${folders.tls}/tls.key`];
  const part = {
    component: "server",
    image: imagesOf(profile, plane.spec.version).server,
    probe: healthz,
    mounts: [
      configMount("embedded-pipecd-config"),
      secretMount,
      ...tlsMounts(blueprint),
      ...userMounts(blueprint),
    ],
    digest: contentDigest(config, secrets),
  } as const;
  if (profile === "L0")
    return { ...part, args: ["server", "--enable-grpc-reflection=true", ...common], ports: portsOfServer };
  return {
    ...part,
    args: [
      "server",
      "--enable-grpc-reflection=false",
      ...common,
      "--log-level=info",
      "--metrics=true",
      ...(plane.spec.tls ? tls : []),
    ],
    ports: [...portsOfServer, { name: "api", port: serverPorts.api, service: "api-server" }],
    // Envoy balances between the pods, and notices a terminating pod only after a few seconds.
    headless: true,
    lingerSeconds: 30,
  };
}

/** Redis. */
export const cache = ({ plane }: Blueprint): Part => ({
  component: "cache",
  image: cacheImage(plane.spec.redisVersion),
  ports: [{ name: "redis", port: 6379, service: "service" }],
  readyPort: "redis",
  digest: contentDigest(),
});

/** PipeCD's maintenance process. From v0.37.1 it creates the database tables at startup. */
export function ops(blueprint: Blueprint): Part {
  const { plane, profile, secrets, datastoreSince } = blueprint;
  const ports: readonly Port[] = [
    { name: "ops", port: 9082, service: profile === "L0" ? "piped-ops" : "http" },
    { name: "admin", port: 9085, service: "admin" },
  ];
  const part = {
    component: "ops",
    image: imagesOf(profile, plane.spec.version).ops,
    ports,
    probe: healthz,
    digest: contentDigest(blueprint.config, secrets),
  } as const;
  const config = configMount("pipecd-config");
  if (profile === "L0")
    return { ...part, args: ["server", configFile], mounts: [config, ...userMounts(blueprint)] };
  return {
    ...part,
    args: [
      "ops",
      `--cache-address=${partName(plane.metadata.name, "cache")}:6379`,
      configFile,
      "--log-encoding=humanize",
      "--log-level=info",
      "--metrics=true",
    ],
    mounts: [config, secretMount, ...userMounts(blueprint)],
    // Only a restart of ops creates the tables again after the datastore has lost them.
    digest: contentDigest(blueprint.config, secrets, datastoreSince ?? null),
    headless: true,
  };
}

/** Gateway, server, cache and ops of a control plane, as each version of PipeCD wants them. Pure. */

import type { ControlPlane } from "../kinds.ts";
import { contentDigest } from "../kubernetes/secrets.ts";
import type { Mount } from "../kubernetes/volumes.ts";
import { configKeys, gatewayPorts, objectNames, secretKeys, serverPorts, tlsDirectory } from "../names.ts";
import { cacheImage, defaultVersions, gatewayImage, imagesOf, type Profile } from "../profile.ts";
import { type Part, type Port, partName } from "./component.ts";

/** What the parts of a control plane are made from. */
export interface Blueprint {
  readonly plane: Pick<ControlPlane, "metadata" | "spec">;
  readonly profile: Profile;
  /** PipeCD's configuration. */
  readonly config: string;
  /** Envoy's configuration. */
  readonly envoy: string;
  /** Stands for the encryption key, and for what is in the volumes. */
  readonly secrets: string;
  /** Since when a datastore of the namespace has been ready: it may have lost all that it had before. */
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

/** Volumes with what the user gives. */
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

/** Envoy, in front of everything. */
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
    // It reads the authority when it starts, and nothing else of what may change.
    digest: plane.spec.tls ? contentDigest(envoy, secrets) : contentDigest(envoy),
  };
}

const portsOfServer: readonly Port[] = [
  { name: "piped-api", port: serverPorts.piped, service: "piped-server" },
  { name: "web-api", port: serverPorts.web, service: "web-server" },
  { name: "http", port: serverPorts.http, service: "http" },
  { name: "admin", port: serverPorts.admin, service: "admin" },
];

/** What pipeds, people and we talk to. */
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
    // Envoy chooses among the pods, and hears that one goes a few seconds later.
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

/** What runs beside the server: from v0.37.1 it makes the tables of the database when it starts. */
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
    // It makes the tables when it starts, and nowhere else are they made again when they are lost.
    digest: contentDigest(blueprint.config, secrets, datastoreSince ?? null),
    headless: true,
  };
}

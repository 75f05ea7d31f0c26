/** Public names: API group, object names, ports, keys of Secrets and ConfigMaps, annotations, and labels. */

export const group = "pipecd.kanatakita.com";
export const version = "v1alpha1";
export const category = "pipecd";

/** Object names that are the same in every namespace, because addresses in configurations rely on them. */
export const objectNames = {
  /** ConfigMap with PipeCD's configuration. */
  config: "pipecd",
  /** Secret with the encryption key. */
  secret: "pipecd",
  /** Service of the gateway. */
  service: "pipecd",
} as const;

/** Ports of the gateway's pods. */
export const gatewayPorts = { ingress: 9090, admin: 9095 } as const;
/** Ports of the server's pods. The `api` port, which takes API keys, exists from v0.9.1. */
export const serverPorts = { piped: 9080, web: 9081, http: 9082, api: 9083, admin: 9085 } as const;
/** Mount path of the `spec.tls` Secret in gateway and server. */
export const tlsDirectory = "/etc/pipecd-tls";

/** Keys of Secrets. */
export const secretKeys = {
  minioAccessKey: "minio-access-key",
  minioSecretKey: "minio-secret-key",
  mysqlRootPassword: "mysql-root-password",
  encryptionKey: "encryption-key",
  pipedKey: "piped-key",
  apiKey: "api-key",
} as const;

/** Keys of ConfigMaps: the names of the files that PipeCD and Envoy read. */
export const configKeys = {
  controlPlane: "control-plane-config.yaml",
  piped: "piped-config.yaml",
  envoy: "envoy-config.yaml",
} as const;

export const annotations = {
  /** On pods: a digest of the content that they read at startup. A new digest rolls them. */
  contentDigest: `${group}/content-digest`,
  /** On the Secret of a Piped: id and project of the piped that the key belongs to. */
  pipedID: `${group}/piped-id`,
  pipedProject: `${group}/piped-project`,
  /** On the Secret of a Piped: the creator that PipeCD lists its key under. */
  pipedKeyID: `${group}/piped-key-id`,
  /** On the Secret of a Piped: changes with the key, so an edited key is detected. */
  pipedKeyDigest: `${group}/piped-key-digest`,
  /** On the Secret with API keys: a digest of each key, so an edited key is detected. */
  apiKeyDigests: `${group}/api-key-digests`,
  /** On a Secret with a new key, with the value `revoke`, until PipeCD has disabled the older keys. */
  olderKeys: `${group}/older-keys`,
  /** Set to `true` on an object that is being deleted to skip its deregistration from PipeCD. */
  skipCleanup: `${group}/skip-cleanup`,
} as const;

/** Labels that identify the object that owns a pod. */
export const labels = {
  controlPlane: `${group}/control-plane`,
  piped: `${group}/piped`,
} as const;

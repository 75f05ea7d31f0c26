/** Names that others know: the group, and the keys of Secrets and ConfigMaps. */

export const group = "pipecd.kanatakita.com";
export const version = "v1alpha1";
export const category = "pipecd";

/** Objects of a control plane that have one name in every namespace: addresses in configurations rely on it. */
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
/** Ports of the server's pods. The services that API keys are for have one from v0.9.1. */
export const serverPorts = { piped: 9080, web: 9081, http: 9082, api: 9083, admin: 9085 } as const;
/** Where gateway and server have the Secret of `spec.tls`. */
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

/** Annotations. */
export const annotations = {
  /** On pods: another one when what they have read at their start is another. */
  contentDigest: `${group}/content-digest`,
  /** On the Secret of a Piped: the id of the piped that its key is for, and the project of that piped. */
  pipedID: `${group}/piped-id`,
  pipedProject: `${group}/piped-project`,
  /** On the Secret of a Piped: the creator that PipeCD lists its key under. */
  pipedKeyID: `${group}/piped-key-id`,
  /** On the Secret of a Piped: changes with the key, so an edited key is detected. */
  pipedKeyDigest: `${group}/piped-key-digest`,
  /** On the Secret with API keys: a digest of each key, so an edited key is detected. */
  apiKeyDigests: `${group}/api-key-digests`,
  /** On a Secret with a new key, with the value `revoke`, until PipeCD has ended the older keys. */
  olderKeys: `${group}/older-keys`,
  /** On an object that is being deleted, with the value true: PipeCD need not be told. */
  skipCleanup: `${group}/skip-cleanup`,
} as const;

/** Labels that tell pods of one object from those of another. */
export const labels = {
  controlPlane: `${group}/control-plane`,
  piped: `${group}/piped`,
} as const;

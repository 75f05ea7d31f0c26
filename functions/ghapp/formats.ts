/** Formats of tokens in Secrets, and types of these Secrets. */

/** Values of `spec.format`. */
export const formats = ["raw", "basic-auth", "dockerconfigjson"] as const;
export type Format = (typeof formats)[number];

/**
 * Secret types that Installations may not create, because Kubernetes acts on them: it fills a Secret of type service-account-token
 * with the credentials of any account of the namespace, and accepts a bootstrap token as a login.
 */
export const refusedTypes: readonly string[] = [
  "kubernetes.io/service-account-token",
  "bootstrap.kubernetes.io/token",
];

/** The type for a format, unless the template sets one. */
export const typeOfFormat: Readonly<Record<Format, string>> = {
  raw: "Opaque",
  "basic-auth": "kubernetes.io/basic-auth",
  dockerconfigjson: "kubernetes.io/dockerconfigjson",
};

/** The key of the Secret for the token, or for the document that contains it. */
export const keyOfFormat: Readonly<Record<Exclude<Format, "raw">, string>> = {
  "basic-auth": "password",
  dockerconfigjson: ".dockerconfigjson",
};

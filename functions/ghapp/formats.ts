/** Forms in which a token can be handed over, and the types of Secrets that may be made. */

/** What `spec.format` can be. */
export const formats = ["raw", "basic-auth", "dockerconfigjson"] as const;
export type Format = (typeof formats)[number];

/**
 * Types of Secrets that no Installation may make. Kubernetes acts on them: it fills one of the type service-account-token with the
 * credentials of any account of the namespace, and accepts a bootstrap token as a login.
 */
export const refusedTypes: readonly string[] = [
  "kubernetes.io/service-account-token",
  "bootstrap.kubernetes.io/token",
];

/** The type that goes with a format, if the template names none. */
export const typeOfFormat: Readonly<Record<Format, string>> = {
  raw: "Opaque",
  "basic-auth": "kubernetes.io/basic-auth",
  dockerconfigjson: "kubernetes.io/dockerconfigjson",
};

/** The key of the Secret that gets the token, or the document that holds it. */
export const keyOfFormat: Readonly<Record<Exclude<Format, "raw">, string>> = {
  "basic-auth": "password",
  dockerconfigjson: ".dockerconfigjson",
};

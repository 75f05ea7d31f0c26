/** Secret decryption and container registries of an agent, in PipeCD's format. */
import type { ImageProvider, SealedSecretManagement, SecretManagement } from "../kinds/pipedconfig.ts";
import type { Problems } from "./problems.ts";
import { given, variantOf } from "./rendering.ts";

type Kms = NonNullable<SecretManagement["gcpKMS"]>;
type RenderedKms = { readonly type: "GCP_KMS"; readonly config: Kms };

function kmsOf(kms: Kms, path: string, instead: string, problems: Problems): RenderedKms {
  problems.add(`${path}.gcpKMS: no version of PipeCD supports Google Cloud KMS: use ${instead}`);
  const { keyName, decryptServiceAccountFile, encryptServiceAccountFile } = kms;
  return { type: "GCP_KMS", config: { keyName, decryptServiceAccountFile, encryptServiceAccountFile } };
}

/** Renders secret decryption up to v0.9.0. */
export function sealedSecretManagementOf(
  management: SealedSecretManagement,
  path: string,
  problems: Problems,
):
  | RenderedKms
  | { readonly type: "SEALING_KEY"; readonly config: NonNullable<SealedSecretManagement["sealingKey"]> } {
  const variant = variantOf(management);
  switch (variant.type) {
    case "sealingKey": {
      const { privateKeyFile, publicKeyFile } = variant.config;
      return { type: "SEALING_KEY", config: { privateKeyFile, publicKeyFile } };
    }
    case "gcpKMS":
      return kmsOf(variant.config, path, "sealingKey", problems);
  }
}

/** Renders secret decryption from v0.37.1. */
export function secretManagementOf(
  management: SecretManagement,
  path: string,
  problems: Problems,
): RenderedKms | { readonly type: "KEY_PAIR"; readonly config: NonNullable<SecretManagement["keyPair"]> } {
  const variant = variantOf(management);
  switch (variant.type) {
    case "keyPair": {
      const { privateKeyFile, privateKeyData, publicKeyFile, publicKeyData } = variant.config;
      problems.oneOf(`${path}.keyPair`, { privateKeyFile, privateKeyData });
      problems.oneOf(`${path}.keyPair`, { publicKeyFile, publicKeyData });
      problems.base64(`${path}.keyPair`, { privateKeyData, publicKeyData });
      return {
        type: "KEY_PAIR",
        config: given({ privateKeyFile, privateKeyData, publicKeyFile, publicKeyData }),
      };
    }
    case "gcpKMS":
      return kmsOf(variant.config, path, "keyPair", problems);
  }
}

type RenderedImageProvider = { readonly name: string } & (
  | { readonly type: "DOCKERHUB"; readonly config: Partial<NonNullable<ImageProvider["dockerhub"]>> }
  | { readonly type: "GCR"; readonly config: Record<string, never> }
  | { readonly type: "ECR"; readonly config: Record<string, never> }
);

/** Renders a container registry that agents up to v0.9.0 watch. */
export function imageProviderOf(provider: ImageProvider): RenderedImageProvider {
  const { name } = provider;
  const variant = variantOf(provider, "name");
  switch (variant.type) {
    case "dockerhub": {
      const { username, passwordFile } = variant.config;
      return { name, type: "DOCKERHUB", config: given({ username, passwordFile }) };
    }
    case "gcr":
      return { name, type: "GCR", config: {} };
    case "ecr":
      return { name, type: "ECR", config: {} };
  }
}

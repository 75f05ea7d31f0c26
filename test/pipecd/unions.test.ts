/** Unions of PipeCD's kinds: one field for each variant, of which exactly one is there. */
import { expect, test } from "vitest";
import { crdOf } from "../../bus/kube/crd.ts";
import { checkObject, InvalidObjectError, type Kind } from "../../bus/kube/kind.ts";
import type { Stored } from "../../bus/kube/object.ts";
import { ControlPlane, Piped } from "../../functions/pipecd/kinds.ts";
import { documentOf } from "./documents.ts";

type Fields = { [key: string]: unknown };
type Schema = { properties: Record<string, Schema>; items: Schema; [key: string]: unknown };

/** Messages of the rules that the API server checks at a field; `[]` stands for the entries of a list. */
function messagesAt(kind: Kind, path: string): string[] {
  const { spec } = crdOf(kind) as {
    spec: { versions: readonly { schema: { openAPIV3Schema: Schema } }[] };
  };
  const schema = `spec.${path}`
    .split(".")
    .reduce<Schema>(
      (at, name) => (name === "[]" ? at.items : (at.properties[name] as Schema)),
      spec.versions[0]!.schema.openAPIV3Schema,
    );
  return (schema["x-kubernetes-validations"] as { message: string }[]).map(({ message }) => message);
}

/** The spec of a sample, with a field of its configuration replaced. */
function having(kind: Kind, field: string, value: unknown): Fields {
  const spec = documentOf(kind, "c").spec as { config: Fields };
  return { ...spec, config: { ...spec.config, [field]: value } };
}

/** Why the schema refuses an object; undefined where it takes it. */
function refusal(kind: Kind, spec: Fields): string | undefined {
  try {
    checkObject(kind, { kind: kind.kind, spec } as unknown as Stored);
    return undefined;
  } catch (error) {
    if (error instanceof InvalidObjectError) return error.message;
    throw error;
  }
}

/** Where a union is: in the CRD, and in an object; and what is one of its variants. */
const unions: readonly {
  readonly kind: Kind;
  readonly schema: string;
  readonly at: (value: unknown) => Fields;
  readonly entry?: Fields;
  readonly variants: Fields;
  /** How many variants there are: exactly one unless given. */
  readonly count?: "at most one" | "at least one";
}[] = [
  {
    kind: ControlPlane,
    schema: "config.datastore",
    at: (value) => having(ControlPlane, "datastore", value),
    variants: {
      firestoreConfig: {},
      dynamoDbConfig: {},
      mongoDBConfig: { url: "u", database: "d" },
      mysqlConfig: { url: "u" },
    },
    count: "at most one",
  },
  {
    kind: ControlPlane,
    schema: "config.filestore",
    at: (value) => having(ControlPlane, "filestore", value),
    variants: {
      gcsConfig: {},
      s3Config: {},
      minioConfig: { endpoint: "http://e", bucket: "bucket", accessKeyFile: "a", secretKeyFile: "s" },
    },
    count: "at most one",
  },
  {
    kind: ControlPlane,
    schema: "config.sharedSSOConfigs.[]",
    at: (value) => having(ControlPlane, "sharedSSOConfigs", [value]),
    entry: { name: "sso" },
    variants: {
      github: { clientId: "i", clientSecret: "s" },
      google: { clientId: "i", clientSecret: "s" },
      oidc: { clientId: "i", clientSecret: "s" },
    },
    count: "at least one",
  },
  {
    kind: Piped,
    schema: "config.cloudProviders.[]",
    at: (value) => having(Piped, "cloudProviders", [value]),
    entry: { name: "provider" },
    variants: {
      kubernetesConfig: {},
      terraformConfig: {},
      cloudRunConfig: { project: "p", region: "r" },
      lambdaConfig: { region: "r" },
      ecsConfig: { region: "r" },
    },
  },
  {
    kind: Piped,
    schema: "config.analysisProviders.[]",
    at: (value) => having(Piped, "analysisProviders", [value]),
    entry: { name: "provider" },
    variants: { prometheus: { address: "a" }, datadog: {}, stackdriver: { serviceAccountFile: "f" } },
  },
  {
    kind: Piped,
    schema: "config.notifications.receivers.[]",
    at: (value) => having(Piped, "notifications", { receivers: [value] }),
    entry: { name: "receiver" },
    variants: { slack: {}, webhook: { url: "u" } },
  },
  {
    kind: Piped,
    schema: "config.imageProviders.[]",
    at: (value) => having(Piped, "imageProviders", [value]),
    entry: { name: "provider" },
    variants: { dockerhub: {}, gcr: {}, ecr: {} },
  },
  {
    kind: Piped,
    schema: "config.sealedSecretManagement",
    at: (value) => having(Piped, "sealedSecretManagement", value),
    variants: {
      sealingKey: { privateKeyFile: "a", publicKeyFile: "b" },
      gcpKMS: { keyName: "k", decryptServiceAccountFile: "d", encryptServiceAccountFile: "e" },
    },
  },
  {
    kind: Piped,
    schema: "config.secretManagement",
    at: (value) => having(Piped, "secretManagement", value),
    variants: {
      keyPair: {},
      gcpKMS: { keyName: "k", decryptServiceAccountFile: "d", encryptServiceAccountFile: "e" },
    },
  },
];

test.each(unions)(
  "$schema has as many variants as PipeCD can use",
  ({ kind, schema, at, entry = {}, variants, count }) => {
    const beginning = count === "at least one" ? "expected one of" : `expected ${count ?? "exactly one"} of`;
    const message = `${beginning} ${Object.keys(variants).join(", ")}`;
    expect(messagesAt(kind, schema)).toContain(message);
    const wrong = (isWrong: boolean) => (isWrong ? expect.stringContaining(message) : undefined);
    expect(refusal(kind, at(entry))).toEqual(wrong(count !== "at most one"));
    for (const [name, value] of Object.entries(variants)) {
      expect(refusal(kind, at({ ...entry, [name]: value }))).toBeUndefined();
      for (const [other, another] of Object.entries(variants)) {
        if (other === name) continue;
        const both = refusal(kind, at({ ...entry, [name]: value, [other]: another }));
        expect(both).toEqual(wrong(count !== "at least one"));
      }
    }
  },
);

test("a provider of logins and its block belong together", () => {
  const message = "expected the block of the provider: github, google, or oidc";
  const client = { clientId: "i", clientSecret: "s" };
  const refused = (provider: string, block: string) =>
    refusal(
      ControlPlane,
      having(ControlPlane, "sharedSSOConfigs", [{ name: "sso", provider, [block]: client }]),
    );
  expect(messagesAt(ControlPlane, "config.sharedSSOConfigs.[]")).toContain(message);
  for (const [provider, block] of [
    ["GITHUB", "github"],
    ["GITHUB_ENTERPRISE", "github"],
    ["GOOGLE", "google"],
    ["OIDC", "oidc"],
  ] as const) {
    expect(refused(provider, block)).toBeUndefined();
    expect(refused(provider, block === "oidc" ? "google" : "oidc")).toContain(message);
  }
});

import { describe, expect, test } from "vitest";
import { crdOf } from "../../bus/kube/crd.ts";
import { checkObject, InvalidObjectError, type Kind } from "../../bus/kube/kind.ts";
import type { KubeObject, Stored } from "../../bus/kube/object.ts";
import { formats, refusedTypes } from "./formats.ts";
import { ClusterGitHubApp, GitHubApp, Installation } from "./kinds.ts";

type Schema = { properties: Record<string, Schema>; [key: string]: unknown };
interface Crd {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly scope: string;
    readonly names: object;
    readonly versions: readonly {
      readonly name: string;
      readonly subresources: object;
      readonly additionalPrinterColumns: readonly { readonly name: string; readonly jsonPath: string }[];
      readonly schema: { readonly openAPIV3Schema: Schema };
    }[];
  };
}

function crd(kind: Kind) {
  const { metadata, spec } = crdOf(kind) as unknown as Crd;
  const [version] = spec.versions;
  if (version === undefined || spec.versions.length > 1) throw new Error("expected one version");
  const schema = (...path: string[]): Schema =>
    path.reduce<Schema>((at, name) => at.properties[name] as Schema, version.schema.openAPIV3Schema);
  const rules = (...path: string[]) => schema(...path)["x-kubernetes-validations"];
  return { name: metadata.name, ...spec, version, schema, rules };
}

/** An object as the API server stores it. */
const stored = (kind: string, spec: unknown): Stored =>
  ({
    apiVersion: "ghapp.tsuzu.dev/v1alpha1",
    kind,
    metadata: { name: "acme-web", namespace: "team-a", uid: "uid", resourceVersion: "1" },
    spec,
  }) as Stored;

/** Why the schema refuses an object; undefined if it accepts it. */
function refusal<T extends KubeObject>(kind: Kind<T>, spec: unknown): string | undefined {
  const object = stored(kind.kind, spec) as Stored<T>;
  try {
    expect(checkObject(kind, object)).toBe(object);
    return undefined;
  } catch (error) {
    if (error instanceof InvalidObjectError) return error.message;
    throw error;
  }
}

const app = { appID: 12345, privateKeySecretRef: { name: "gh-app-key", key: "private-key.pem" } };
const acmeWeb = {
  appRef: { apiVersion: "ghapp.tsuzu.dev/v1alpha1", kind: "ClusterGitHubApp", name: "main" },
  installationID: 678,
  repositoryIDs: [4242],
  permissions: { contents: "read", pull_requests: "read" },
  key: "password",
  template: {
    type: "kubernetes.io/basic-auth",
    stringData: { username: "x-access-token" },
    metadata: { annotations: { "kpack.io/git": "https://github.com" } },
  },
};
const without = (name: keyof typeof acmeWeb) => ({ ...acmeWeb, [name]: undefined });

describe("CustomResourceDefinitions", () => {
  test.each([
    ["GitHubApp", GitHubApp, "githubapps", "Namespaced", "gha", ["Ready", "App", "Age"]],
    ["ClusterGitHubApp", ClusterGitHubApp, "clustergithubapps", "Cluster", "cgha", ["Ready", "App", "Age"]],
    [
      "Installation",
      Installation,
      "installations",
      "Namespaced",
      "ghinst",
      ["Ready", "Secret", "Expires", "Age"],
    ],
  ] as const)("%s has its names, scope, and columns", (_, kind, plural, scope, shortName, columns) => {
    const { name, names, version, ...spec } = crd(kind);
    expect(name).toBe(`${plural}.ghapp.tsuzu.dev`);
    expect(spec.scope).toBe(scope);
    expect(names).toMatchObject({
      plural,
      singular: kind.kind.toLowerCase(),
      listKind: `${kind.kind}List`,
      shortNames: [shortName],
    });
    expect(version).toMatchObject({ name: "v1alpha1", subresources: { status: {} } });
    expect(version.additionalPrinterColumns.map((column) => column.name)).toEqual(columns);
  });

  test("shows fields of the status in columns", () => {
    for (const kind of [GitHubApp, ClusterGitHubApp, Installation]) {
      const { version, schema } = crd(kind);
      for (const { jsonPath } of version.additionalPrinterColumns) {
        const [, field] = /^\.status\.(\w+)/.exec(jsonPath) ?? [];
        if (field !== undefined) expect(Object.keys(schema("status").properties)).toContain(field);
        else expect(jsonPath).toBe(".metadata.creationTimestamp");
      }
    }
  });

  test("makes the App and the installation of an Installation immutable", () => {
    const { rules } = crd(Installation);
    for (const field of ["appRef", "installationID"])
      expect(rules("spec", field)).toEqual([
        { rule: "self == oldSelf", message: expect.stringContaining("cannot be changed") },
      ]);
  });

  test("has the same rules in the API server and in the schema", () => {
    const { rules, schema } = crd(Installation);
    expect(rules("spec")).toEqual([
      expect.objectContaining({ rule: "has(self.key) || (has(self.format) && self.format != 'raw')" }),
      expect.objectContaining({ message: "expected either repositories or repositoryIDs" }),
      expect.objectContaining({ message: "apiPermissions requires exactly one repository" }),
      expect.objectContaining({
        message: "with apiPermissions, the only allowed value of permissions is contents: read",
      }),
    ]);
    expect(schema("spec", "format").enum).toEqual(formats);
    expect(schema("spec").required).toEqual(["appRef", "installationID", "template"]);
  });
});

describe("types of Secrets", () => {
  const typed = (type: unknown) => ({ ...acmeWeb, template: { ...acmeWeb.template, type } });

  test.each([
    "",
    "Opaque",
    "kubernetes.io/basic-auth",
    "kubernetes.io/dockerconfigjson",
    "kubernetes.io/tls",
    "kubernetes.io/dockercfg",
    "example.com/token",
    undefined,
  ])("accepts %j", (type) => {
    expect(refusal(Installation, typed(type))).toBeUndefined();
  });

  test.each(["kubernetes.io/service-account-token", "bootstrap.kubernetes.io/token"])(
    "refuses %j, which Kubernetes acts on",
    (type) => {
      expect(refusal(Installation, typed(type))).toMatch(
        /spec\.template\.type: Kubernetes grants special rights to Secrets of the types .*/,
      );
    },
  );

  test("has the same list in the API server", () => {
    const [rule, ...more] = crd(Installation).rules("spec", "template", "type") as { rule: string }[];
    expect(more).toEqual([]);
    const [, list = ""] = /^!\(self in (\[.*\])\)$/.exec(rule?.rule ?? "") ?? [];
    expect(JSON.parse(list)).toEqual(refusedTypes);
  });
});

const separated = {
  appRef: { kind: "ClusterGitHubApp", name: "main" },
  installationID: 678,
  repositories: ["web"],
  apiPermissions: { pull_requests: "write", statuses: "write" },
  key: "token",
  template: {},
};

describe("objects of ghapp-controller", () => {
  test("accepts the samples", () => {
    expect(refusal(ClusterGitHubApp, app)).toBeUndefined();
    expect(refusal(Installation, acmeWeb)).toBeUndefined();
  });

  test("accepts Apps with all fields", () => {
    for (const kind of [GitHubApp, ClusterGitHubApp])
      for (const url of ["", "https://ghe.example.com/prefix"])
        expect(refusal(kind, { ...app, url })).toBeUndefined();
  });

  const permissions =
    `administration blocking checks contents content_references deployments emails followers issues
    metadata members organization_administration organization_hooks organization_plan organization_pre_receive_hooks
    organization_projects organization_user_blocking packages pages pull_requests repository_hooks repository_projects
    repository_pre_receive_hooks single_file statuses team_discussions vulnerability_alerts`.split(/\s+/);

  test("accepts an Installation with all fields", () => {
    expect(permissions).toHaveLength(27);
    const full = {
      appRef: {
        apiVersion: "",
        kind: "GitHubApp",
        name: "main",
        namespace: "elsewhere",
        uid: "4d0f7c2e-0000-0000-0000-000000000000",
        resourceVersion: "42",
        fieldPath: "spec",
      },
      installationID: 2 ** 40,
      repositoryIDs: [1, 2 ** 40],
      // ghapp-controller does not check levels.
      permissions: Object.fromEntries(permissions.map((name) => [name, "whatever"])),
      key: "password",
      template: {
        metadata: { labels: { a: "1" }, annotations: { "kpack.io/docker": "ghcr.io" } },
        immutable: true,
        data: { "ca.crt": "YQ==" },
        stringData: { username: "x-access-token", "config_file.v-1": "" },
        type: "Opaque",
      },
    };
    expect(refusal(Installation, full)).toBeUndefined();
    expect(
      refusal(Installation, { ...full, template: {}, repositoryIDs: [], permissions: {} }),
    ).toBeUndefined();
  });

  test.each<[string, object, RegExp]>([
    ["no App", without("appRef"), /spec\.appRef/],
    ["no installation", without("installationID"), /spec\.installationID/],
    ["no template", without("template"), /spec\.template/],
    ["no key", without("key"), /The format raw needs a key/],
    [
      "an App of another group",
      { ...acmeWeb, appRef: { ...acmeWeb.appRef, apiVersion: "v1" } },
      /appRef\.apiVersion/,
    ],
    ["an App of another kind", { ...acmeWeb, appRef: { kind: "Secret", name: "main" } }, /appRef\.kind/],
    ["an App without a name", { ...acmeWeb, appRef: { kind: "GitHubApp", name: "" } }, /appRef\.name/],
    ["repositories twice", { ...acmeWeb, repositories: ["web"] }, /either repositories or repositoryIDs/],
    ["no key of a Secret", { ...acmeWeb, key: "a/b" }, /spec\.key/],
    ["another format", { ...acmeWeb, format: "base64" }, /spec\.format/],
    ["empty apiPermissions", { ...separated, apiPermissions: {} }, /at least one permission/],
    [
      "apiPermissions without a repository",
      { ...separated, repositories: undefined },
      /exactly one repository/,
    ],
    [
      "apiPermissions for two repositories",
      { ...separated, repositories: ["web", "api"] },
      /exactly one repository/,
    ],
    [
      "permissions beyond those of builds",
      { ...separated, permissions: { contents: "write" } },
      /the only allowed value of permissions is contents: read/,
    ],
    ["a refresh an hour before the end", { ...acmeWeb, refreshBeforeSeconds: 3001 }, /refreshBeforeSeconds/],
  ])("refuses an Installation with %s", (_, spec, why) => {
    expect(refusal(Installation, spec)).toMatch(why);
  });

  test("accepts apiPermissions", () => {
    expect(refusal(Installation, separated)).toBeUndefined();
    expect(refusal(Installation, { ...separated, permissions: { contents: "read" } })).toBeUndefined();
  });

  test("requires a key only for the format raw", () => {
    for (const format of formats) {
      const message = refusal(Installation, { ...without("key"), format });
      if (format === "raw") expect(message).toMatch(/needs a key/);
      else expect(message, format).toBeUndefined();
    }
  });
});

test.each<[string, object, boolean]>([
  ["everything", {}, true],
  ["namespaces", { namespaces: ["team-*"] }, true],
  ["labels", { namespaceSelector: { matchLabels: { a: "1" } } }, true],
  [
    "expressions",
    { namespaceSelector: { matchExpressions: [{ key: "a", operator: "NotIn", values: ["1"] }] } },
    true,
  ],
  ["another operator", { namespaceSelector: { matchExpressions: [{ key: "a", operator: "Gt" }] } }, false],
  ["repositories", { repositories: ["acme/web", "acme/*"] }, true],
  ["no repository", { repositories: ["web"] }, false],
  ["an invalid repository", { repositories: ["acme/web/x"] }, false],
  ["permissions", { permissions: { contents: "write" } }, true],
  ["an invalid level", { permissions: { contents: "owner" } }, false],
  ["installations", { installationIDs: [678] }, true],
])("accepts a rule of an App with %s: %j", (_, rule, fits) => {
  for (const kind of [GitHubApp, ClusterGitHubApp])
    expect(refusal(kind, { ...app, allowed: [rule] }) === undefined).toBe(fits);
});

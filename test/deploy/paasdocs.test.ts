/** The objects in docs/paas.md are valid. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { checkObject, type Kind } from "../../bus/kube/kind.ts";
import type { Stored } from "../../bus/kube/object.ts";
import { kindsOf } from "../../bus/worker/function.ts";
import { functions } from "../../functions/index.ts";
import { parseConfig } from "../../functions/paas/site/config.ts";
import { root } from "./manifests.ts";

const text = readFileSync(new URL("docs/paas.md", `file://${root}/`), "utf8");
const kinds = functions.flatMap(kindsOf).filter(({ definition }) => definition !== undefined);

/** The values of shell variables in the page. */
const environment: Readonly<Record<string, string>> = Object.fromEntries(
  [...text.matchAll(/\b([A-Z]+)=(\S+)/g)].map(([, name = "", value = ""]) => [name, value]),
);
const filledIn = (yaml: string): string =>
  yaml.replace(/\$\{?([A-Z]+)(?:(#|%)([^}]*))?\}?/g, (_, name: string, cut?: string) => {
    const value = environment[name];
    if (value === undefined) throw new Error(`docs/paas.md does not set $${name}`);
    const [owner = "", repository = ""] = value.split("/");
    return cut === "#" ? repository : cut === "%" ? owner : value;
  });

const documents = [...text.matchAll(/<<YAML\n(.*?)\nYAML\n/gs)].flatMap(([, yaml = ""]) =>
  parseAllDocuments(filledIn(yaml)).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS() as Stored;
  }),
);
const ours = documents.flatMap((object) => {
  const kind = kinds.find((one) => one.kind === object.kind && object.apiVersion.startsWith(`${one.group}/`));
  return kind === undefined ? [] : [{ kind: kind as Kind, object }];
});

test("each object matches the schema of its kind", () => {
  expect(ours.map(({ kind }) => kind.kind)).toEqual(["ClusterGitHubApp", "Installation", "AppPipeline"]);
  for (const { kind, object } of ours) {
    expect(() => checkObject(kind, object)).not.toThrow();
    // And it has no fields that the API server would drop silently.
    expect(kind.definition?.spec.strict().safeParse(object.spec).error).toBeUndefined();
  }
});

test("their references resolve", () => {
  const named = (kind: string) =>
    ours.find((one) => one.kind.kind === kind)?.object as Stored & {
      spec: Record<string, never>;
    };
  const [app, installation, pipeline] = ["ClusterGitHubApp", "Installation", "AppPipeline"].map(named);
  expect(installation?.spec).toMatchObject({ appRef: { name: app?.metadata.name } });
  expect(pipeline?.spec).toMatchObject({ base: { github: { secretName: installation?.metadata.name } } });
  for (const secret of ["regcred", "gh-app-key"])
    expect(text).toMatch(new RegExp(`kubectl create secret \\S+ ${secret} `));
});

test("the site's settings are valid", () => {
  const [, yaml = ""] = /```yaml\n(apiVersion: v1\nkind: ConfigMap\n.*?)```/s.exec(text) ?? [];
  const { metadata, data }: Stored & { data: Record<string, string> } = parse(yaml);
  expect(metadata).toMatchObject({ name: "modoki", namespace: "denrei" });
  expect(parseConfig(data["config.yaml"] ?? "").site).toMatchObject({
    scheme: "https",
    gateway: { name: "public", namespace: "gateways" },
  });
});

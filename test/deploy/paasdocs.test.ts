/** The objects that docs/paas.md has people apply are such that they can be applied. */
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

/** What the shell puts in the place of names. */
const environment: Readonly<Record<string, string>> = Object.fromEntries(
  [...text.matchAll(/\b([A-Z]+)=(\S+)/g)].map(([, name = "", value = ""]) => [name, value]),
);
const filledIn = (yaml: string): string =>
  yaml.replace(/\$\{?([A-Z]+)(?:(#|%)([^}]*))?\}?/g, (_, name: string, cut?: string) => {
    const value = environment[name];
    if (value === undefined) throw new Error(`expected $${name} to be set somewhere in docs/paas.md`);
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

test("each is an object of its kind", () => {
  expect(ours.map(({ kind }) => kind.kind)).toEqual(["ClusterGitHubApp", "Installation", "AppPipeline"]);
  for (const { kind, object } of ours) {
    expect(() => checkObject(kind, object)).not.toThrow();
    // Nor is there anything in it that the API server would drop without a word.
    expect(kind.definition?.spec.strict().safeParse(object.spec).error).toBeUndefined();
  }
});

test("they name each other as they are named", () => {
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

test("the site's settings are such as are read", () => {
  const [, yaml = ""] = /```yaml\n(apiVersion: v1\nkind: ConfigMap\n.*?)```/s.exec(text) ?? [];
  const { metadata, data }: Stored & { data: Record<string, string> } = parse(yaml);
  expect(metadata).toMatchObject({ name: "modoki", namespace: "denrei" });
  expect(parseConfig(data["config.yaml"] ?? "").site).toMatchObject({
    scheme: "https",
    gateway: { name: "public", namespace: "gateways" },
  });
});

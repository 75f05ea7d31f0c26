/** The simulated piped of PipeCD v1 runs with Denrei's configurations and exits for those that a real one rejects. */
import { expect, test } from "vitest";
import { stringify } from "yaml";
import { reportedPlugins, v1Crash } from "../../deploy/simulators/pipecd/pipedv1.ts";
import { pipedConfig } from "../../functions/pipecd/config.ts";
import { Piped } from "../../functions/pipecd/kinds.ts";
import { objectsOf } from "../../functions/pipecd/piped/pipedobjects.ts";
import { documentOf, golden } from "./documents.ts";

const args = ["run", "--config-file=/etc/piped-config/piped-config.yaml", "--metrics=true"];

test.each(["v1", "v1-piped-full"] as const)("an agent runs with the configuration of %s", (file) => {
  const { metadata, spec } = documentOf(Piped, file);
  const config = pipedConfig(spec!, "C", { pipedID: "id" });
  const piped = { metadata: { ...metadata, namespace: "ns" }, spec: spec! };
  const objects = objectsOf({ piped, profile: "C", pipedID: "id", config, secrets: "s" });
  const deployment = objects.find(({ kind }) => kind.kind === "Deployment")?.content as {
    spec: { template: { spec: { containers: { args: string[] }[] } } };
  };
  const [container] = deployment.spec.template.spec.containers;
  expect(v1Crash({ args: container?.args ?? [], config })).toBeUndefined();
});

type Fields = Record<string, unknown>;
interface Document {
  readonly spec: Fields & { plugins: Fields[] };
}

/** The sample's configuration with a change. */
function changed(change: (spec: Document["spec"]) => void): string {
  const document = structuredClone(golden("v1-piped")) as Document;
  change(document.spec);
  return stringify(document);
}
const plugin = (fields: Fields) => changed(({ plugins }) => Object.assign(plugins[0] as Fields, fields));

test.each<readonly [what: string, config: string, problem: string]>([
  ["without a project", changed((spec) => Object.assign(spec, { projectID: "" })), "projectID must be set"],
  [
    "with a url over HTTP",
    plugin({ url: "http://plugins.example.com/kubernetes" }),
    "failed to run plugin kubernetes: only file, https and oci schemes are supported",
  ],
  [
    "with a URL of another scheme",
    plugin({ url: "s3://bucket/kubernetes" }),
    "failed to run plugin kubernetes: unsupported file scheme s3",
  ],
  [
    "with an artifact without a path",
    plugin({ url: "oci://registry.example.com" }),
    "failed to run plugin kubernetes: path is required",
  ],
  ["with a duplicate port", plugin({ port: 7002 }), "failed to run plugin wait: address already in use"],
  [
    "with a port of the piped",
    plugin({ port: 9087 }),
    "failed to run plugin kubernetes: address already in use",
  ],
  ["with a duplicate name", plugin({ name: "wait" }), "plugin wait: another plugin has the same file"],
  [
    "with a deploy target without a configuration",
    plugin({ deployTargets: [{ name: "local" }] }),
    "failed to run plugin kubernetes: deploy target local: unexpected end of JSON input",
  ],
])("an agent exits %s", (_, config, problem) => {
  expect(v1Crash({ args, config })).toBe(problem);
});

test("exits with the command and the flags of v0", () => {
  const config = changed(() => undefined);
  expect(v1Crash({ args: ["piped"], config })).toBe('unknown command "piped" for "piped"');
  expect(v1Crash({ args: [...args, "--app-manifest-cache-count=150"], config })).toBe(
    "unknown flag: --app-manifest-cache-count",
  );
});

test("reports its plugins with their deploy targets", () => {
  const { spec } = golden("v1-piped") as Document;
  expect(reportedPlugins(spec)).toEqual([
    { name: "kubernetes", deployTargets: ["local"] },
    { name: "wait", deployTargets: [] },
  ]);
});

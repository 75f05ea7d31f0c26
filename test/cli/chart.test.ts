/** `denrei chart` */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { runHere } from "./here.ts";

const folder = mkdtempSync(join(tmpdir(), "denrei-chart-test-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
function file(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}
const sample = "functions/paas/sample.yaml";
const kinds = (text: string) => parseAllDocuments(text).map((document) => document.toJS().kind);

describe("chart", () => {
  test("prints the built-in chart, which renders the same objects", async () => {
    const printed = await runHere(["chart", "print"]);
    expect(printed).toMatchObject({ code: 0, stderr: "" });
    const own = await runHere(["chart", "render", sample, "--chart", file("own.ts", printed.stdout)]);
    const builtin = await runHere(["chart", "render", sample]);
    expect(builtin).toMatchObject({ code: 0, stderr: "" });
    expect(kinds(builtin.stdout)).toEqual(["Deployment", "Service", "Ingress"]);
    const objects = (text: string) => parseAllDocuments(text).map((document) => document.toJS());
    expect(objects(own.stdout)).toEqual(objects(builtin.stdout));
  });

  test("passes the site's settings to the chart", async () => {
    const config = file("config.yaml", "site: { gateway: { name: public, namespace: gateways } }");
    const { code, stdout } = await runHere(["chart", "render", sample, "--config", config]);
    expect(code).toBe(0);
    expect(kinds(stdout)).toEqual(["Deployment", "Service", "HTTPRoute"]);
  });

  test("prints the roles for listed kinds: one for the worker and one for the bridge", async () => {
    const config = file(
      "kinds.yaml",
      `kinds:
  - { group: batch, version: v1, kind: CronJob, plural: cronjobs }
  - { group: cert-manager.io, version: v1, kind: Certificate, plural: certificates }`,
    );
    const args = ["chart", "rbac", "--config", config, "--namespace", "platform", "--json"];
    const { code, stdout, stderr } = await runHere(args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const { items } = JSON.parse(stdout) as { items: Record<string, unknown>[] };
    const of = (kind: string) => items.filter((item) => item.kind === kind);
    const rules = (verbs: string[]) => [
      { apiGroups: ["batch"], resources: ["cronjobs"], verbs },
      { apiGroups: ["cert-manager.io"], resources: ["certificates"], verbs },
    ];
    expect(of("ClusterRole")).toMatchObject([
      { metadata: { name: "denrei-bridge-listed-kinds" }, rules: rules(["list", "watch"]) },
      {
        metadata: { name: "denrei-modoki-application-listed-kinds" },
        rules: rules(["create", "delete", "get", "patch"]),
      },
    ]);
    const subject = (name: string) => [{ kind: "ServiceAccount", name, namespace: "platform" }];
    expect(of("ClusterRoleBinding").map(({ subjects }) => subjects)).toEqual([
      subject("denrei-bridge"),
      subject("denrei-modoki-application"),
    ]);
    const rendered = await runHere([
      ...["chart", "render", sample, "--config", config, "--chart"],
      file(
        "cron.js",
        'export default () => ({ apiVersion: "batch/v1", kind: "CronJob", metadata: { name: "a" } });',
      ),
    ]);
    expect(kinds(rendered.stdout)).toEqual(["CronJob"]);
  });

  test("prints empty roles without listed kinds, and none for an invalid list", async () => {
    const none = await runHere(["chart", "rbac", "--config", file("no-kinds.yaml", "site: {}"), "--json"]);
    expect(none).toMatchObject({ code: 0, stderr: expect.stringContaining("These roles are empty") });
    const { items } = JSON.parse(none.stdout) as { items: { kind: string; rules?: unknown }[] };
    expect(items.filter(({ kind }) => kind === "ClusterRole").map(({ rules }) => rules)).toEqual([[], []]);
    const secret = 'kinds: [{ group: "", version: v1, kind: Secret, plural: secrets }]';
    const bad = await runHere(["chart", "rbac", "--config", file("secret.yaml", secret)]);
    expect(bad).toMatchObject({ code: 2, stdout: "" });
    expect(bad.stderr).toContain(
      "kinds.0: charts may not make Secret: the platform has rights for Secrets only in",
    );
  });

  test.for([
    [
      "a chart that throws",
      ["--chart", file("throws.js", 'export default () => { throw new Error("no") };')],
      "ChartThrew: no",
    ],
    [
      "a chart in another language",
      ["--chart", "chart.py"],
      "chart.py is not a chart: its name must end in .ts or .js",
    ],
    ["a missing chart", ["--chart", "none.js"], "cannot read none.js: "],
    ["invalid settings", ["--config", file("bad.yaml", "site: { scheme: ftp }")], "site.scheme: "],
  ] as const)("reports %s in one line, with exit code 2", async ([, args, says]) => {
    const { code, stdout, stderr } = await runHere(["chart", "render", sample, ...args]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(`denrei: ${says}`);
  });

  test("reports a file without an Application, and an invalid Application", async () => {
    const none = await runHere(["chart", "render", file("none.yaml", "kind: Pod")]);
    expect(none.stderr).toMatch(/^denrei: \S+none\.yaml has no Application\n/);
    for (const text of ["kind: [", "kind: *Application"]) {
      const broken = await runHere(["chart", "render", file("broken.yaml", text)]);
      expect(broken.code).toBe(2);
      expect(broken.stderr).toMatch(/^denrei: \S+broken\.yaml is not valid YAML: /);
    }
    const wrong = file(
      "wrong.yaml",
      "kind: Application\nmetadata: { name: web }\nspec: { domains: [UPPER] }",
    );
    const { code, stderr } = await runHere(["chart", "render", wrong]);
    expect(code).toBe(2);
    expect(stderr).toContain("spec.domains.0: Enter a host name in lowercase");
  });
});

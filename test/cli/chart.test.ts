/** `denrei chart`: what charts make is seen before it is in a cluster. */
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
  test("the built-in one is printed, and the printed one makes the same", async () => {
    const printed = await runHere(["chart", "print"]);
    expect(printed).toMatchObject({ code: 0, stderr: "" });
    const own = await runHere(["chart", "render", sample, "--chart", file("own.ts", printed.stdout)]);
    const builtin = await runHere(["chart", "render", sample]);
    expect(builtin).toMatchObject({ code: 0, stderr: "" });
    expect(kinds(builtin.stdout)).toEqual(["Deployment", "Service", "Ingress"]);
    const objects = (text: string) => parseAllDocuments(text).map((document) => document.toJS());
    expect(objects(own.stdout)).toEqual(objects(builtin.stdout));
  });

  test("the site's settings are what the chart is given", async () => {
    const config = file("config.yaml", "site: { gateway: { name: public, namespace: gateways } }");
    const { code, stdout } = await runHere(["chart", "render", sample, "--config", config]);
    expect(code).toBe(0);
    expect(kinds(stdout)).toEqual(["Deployment", "Service", "HTTPRoute"]);
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
      "expected a chart whose name ends in .ts or .js, found chart.py",
    ],
    ["a chart that is not there", ["--chart", "none.js"], "expected a file none.js that can be read"],
    ["settings that are none", ["--config", file("bad.yaml", "site: { scheme: ftp }")], "site.scheme: "],
  ] as const)("%s is told in a line, with exit code 2", async ([, args, says]) => {
    const { code, stdout, stderr } = await runHere(["chart", "render", sample, ...args]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(`denrei: ${says}`);
  });

  test("a file without an Application, and one that is wrong", async () => {
    const none = await runHere(["chart", "render", file("none.yaml", "kind: Pod")]);
    expect(none.stderr).toMatch(/^denrei: expected an Application in \S+none\.yaml, found none\n/);
    const wrong = file(
      "wrong.yaml",
      "kind: Application\nmetadata: { name: web }\nspec: { domains: [UPPER] }",
    );
    const { code, stderr } = await runHere(["chart", "render", wrong]);
    expect(code).toBe(2);
    expect(stderr).toContain("spec.domains.0: expected the name of a host in lower case");
  });
});

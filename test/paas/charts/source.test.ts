import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { builtinChart, builtinSource } from "../../../functions/paas/charts/builtin.ts";
import { application } from "./expected.ts";
import { site } from "./sites.ts";
import { chartOf, generous, renderedBy, renderedFrom } from "./sources.ts";

const configMap = (name: string, data: object = {}) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
  data,
});

describe("the default export", () => {
  test("can be a class that extends Chart, as in modoki-operator", async () => {
    const source = `
      import { ApiObject, Chart } from "cdk8s";
      import type { Construct } from "constructs";
      import type { Application } from "./application";
      interface Props { app: Application; config: { colour: string } }
      export default class extends Chart {
        constructor(scope: Construct, id: string, props: Props) {
          super(scope, id, { labels: { "modoki-app": props.app.metadata.name } });
          new ApiObject(this, "settings", { apiVersion: "v1", kind: "ConfigMap", data: { id, colour: props.config.colour } });
        }
      }`;
    expect(await renderedBy(chartOf(source), "web", { colour: "red" })).toEqual([
      {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: {
          name: expect.stringMatching(/^modoki-web-settings-[0-9a-f]{8}$/),
          labels: { "modoki-app": "web" },
        },
        data: { id: "modoki-web", colour: "red" },
      },
    ]);
  });

  test("can be a function that returns objects", async () => {
    const source = `export default ({ app, config }) => [
      { apiVersion: "v1", kind: "ConfigMap", metadata: { name: app.metadata.name }, data: { scheme: config.scheme } },
    ];`;
    expect(await renderedFrom(source, { language: "js" })).toEqual([configMap("web", { scheme: "https" })]);
  });

  test("can be an async function that returns one object, and adds others to a chart of cdk8s", async () => {
    const source = `
      import { ApiObject } from "cdk8s";
      export default async ({ app }, chart) => {
        new ApiObject(chart, "first", { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: {} });
        await null;
        return { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "b" }, data: {} };
      };`;
    expect(await renderedFrom(source)).toEqual([configMap("a"), configMap("b")]);
  });

  test.each([
    ["nothing", "export const a = 1;", "found none"],
    ["a value", "export default 7;", "found number"],
  ])("cannot be %s", async (_, source, found) => {
    await expect(renderedFrom(source)).rejects.toMatchObject({
      reason: "ChartNotLoaded",
      message: expect.stringContaining(found),
    });
  });
});

test("renders the same as the built-in chart from its source", async () => {
  const app = application({ domains: ["a.example.com", "b.example.com"], healthCheck: { path: "/" } });
  const config = site({ ingress: { className: "public" } });
  const found = await chartOf(builtinSource).render(app, config, generous());
  expect(found).toEqual(await builtinChart.render(app, config, generous()));
});

test("numbers unnamed objects of a function by kind", async () => {
  const objects = `["Service", "Service", "ConfigMap"].map((kind) => ({ apiVersion: "v1", kind }))`;
  const found = await renderedFrom(`export default () => ${objects};`);
  expect(found).toMatchObject([
    { metadata: { name: expect.stringMatching(/^modoki-web-service-[0-9a-f]{8}$/) } },
    { metadata: { name: expect.stringMatching(/^modoki-web-service-2-[0-9a-f]{8}$/) } },
    { metadata: { name: expect.stringMatching(/^modoki-web-configmap-[0-9a-f]{8}$/) } },
  ]);
});

test("passes non-objects on to the validation", async () => {
  const source = `export default () => [{ kind: "Service" }, "text", null];`;
  expect(await renderedFrom(source)).toEqual([{ kind: "Service" }, "text", null]);
});

test("runs TypeScript with enums", async () => {
  const source = `
    enum Colour { Red = "red" }
    class Settings { constructor(readonly colour: Colour) {} }
    export default () => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { ...new Settings(Colour.Red) } });`;
  expect(await renderedFrom(source)).toEqual([configMap("a", { colour: "red" })]);
});

describe("error messages", () => {
  test.each([
    ["TypeScript", "ts", "const a: number = 1;\nconst b = (;\n", "line 2, column 12: SyntaxError"],
    ["JavaScript", "js", "const a = 1;\nconst b = (;\n", "line 2, column 12: SyntaxError"],
    ["TypeScript with enums", "ts", "enum A { B }\nconst b = (;\n", "line 2, column 12: SyntaxError"],
  ] as const)("give the position of a syntax error in %s", async (_, language, source, message) => {
    await expect(renderedFrom(source, { language })).rejects.toMatchObject({
      reason: "ChartNotLoaded",
      message: expect.stringContaining(message),
    });
  });

  test.each([
    ["", "chart:3:9"],
    ["enum A { B }", "chart:3:9"],
  ])("give the position of an exception, after %j, without frames of the runner", async (first, place) => {
    const source = `${first}\nconst fail = (why: string): never => {\n  throw new TypeError(why);\n};\nexport default ({ app }) => fail(app.metadata.name);`;
    await expect(renderedFrom(source)).rejects.toMatchObject({
      reason: "ChartThrew",
      message: `TypeError: web\n  at fail (${place})\n  at default (chart:5:29)`,
    });
  });

  test.each([
    ["a string", `throw "why";`, "threw why"],
    ["nothing", "throw undefined;", "threw undefined"],
    [
      "a value that cannot be shown",
      "throw { toJSON() { throw 1; } };",
      "threw a value that cannot be shown",
    ],
    ["a long text", `throw new Error("x".repeat(1e6));`, "xxx"],
  ])("show a thrown value: %s", async (_, statement, message) => {
    const failure = await renderedFrom(`export default () => { ${statement} };`).catch((error) => error);
    expect(failure).toMatchObject({ reason: "ChartThrew", message: expect.stringContaining(message) });
    expect(failure.message.length).toBeLessThan(2100);
  });

  test("include errors of cdk8s", async () => {
    const source = `export default () => ({ apiVersion: "v1", kind: "ConfigMap", data: { at: new Map() } });`;
    await expect(renderedFrom(source)).rejects.toThrow("can't render non-simple object of type 'Map'");
  });

  test("include values that JSON cannot represent", async () => {
    const source = `export default () => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, size: 1n });`;
    await expect(renderedFrom(source)).rejects.toMatchObject({
      reason: "ChartOutputInvalid",
      message: expect.stringContaining("Do not know how to serialize a BigInt"),
    });
  });

  test("explain that a chart cannot write files, as charts of `cdk8s init` do", async () => {
    const source = `import { App, Chart } from "cdk8s"; const app = new App(); new Chart(app, "hello"); app.synth();`;
    await expect(renderedFrom(source)).rejects.toMatchObject({
      reason: "ChartNotLoaded",
      message: expect.stringMatching(
        /app\.synth\(\) of cdk8s do not work: .*export the chart's class as default/,
      ),
    });
  });
});

test("keeps printed text apart from the objects", async () => {
  const source = `console.log('{"objects":[]}');
    export default () => { console.log("a"); console.error("b"); return { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: {} }; };`;
  expect(await renderedFrom(source)).toEqual([configMap("a")]);
});

test("accepts more printed text than is read at once", async () => {
  const source = `export default () => {
    for (let i = 0; i < 2000; i++) console.log("x".repeat(1000));
    return { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: {} };
  };`;
  expect(await renderedFrom(source)).toEqual([configMap("a")]);
});

test("isolates the data of applications", async () => {
  const source = `export default ({ app, config }) => {
    const data = { app: String(app.seen), config: String(config.seen) };
    app.seen = config.seen = true;
    return { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data };
  };`;
  const chart = chartOf(source);
  const clean = [configMap("a", { app: "undefined", config: "undefined" })];
  expect(await renderedBy(chart, "web")).toEqual(clean);
  expect(await renderedBy(chart, "api")).toEqual(clean);
  expect(await renderedBy(chart, "web")).toEqual(clean);
});

test("continues after an exception for one application", async () => {
  const source = `export default ({ app }) => {
    if (app.metadata.name === "bad") throw new Error("no");
    return { apiVersion: "v1", kind: "ConfigMap", metadata: { name: app.metadata.name }, data: {} };
  };`;
  const chart = chartOf(source);
  await expect(renderedBy(chart, "bad")).rejects.toThrow("no");
  const { pid } = chart;
  expect(await renderedBy(chart, "web")).toEqual([configMap("web")]);
  expect(chart.pid).toBe(pid);
});

test("derives its id from its source", () => {
  const source = "export default () => [];";
  expect(chartOf(source).id).toBe(chartOf(source, { idleMillis: 7 }).id);
  expect(chartOf(source).id).not.toBe(chartOf(`${source} `).id);
  expect(chartOf(source).id).not.toBe(chartOf(source, { language: "js" }).id);
  const digest = createHash("sha256")
    .update(JSON.stringify([{ source, language: "ts" }]))
    .digest("hex");
  expect(chartOf(source).id).toBe(`source:${digest.slice(0, 16)}`);
});

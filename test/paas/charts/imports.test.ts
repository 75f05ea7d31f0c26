/** Charts with imports: typed ones, generated ones, and cdk8s-plus. */
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { chartOf as siteChartOf } from "../../../functions/paas/application/charts.ts";
import type { SourceChart } from "../../../functions/paas/charts/source.ts";
import { parseConfig } from "../../../functions/paas/site/config.ts";
import { renderedBy, renderedFrom } from "./sources.ts";

/** In the style of `cdk8s init` and of tutorials: some of the imported names are types. */
const typed = (body: string, imports = "import * as k8s from '../imports/k8s';") => `
import { Construct } from 'constructs';
import { Chart, ChartProps } from 'cdk8s';
${imports}
import { Application } from '../application';

interface Props extends ChartProps { app: Application; config: Partial<Config> }
export interface Config { serviceDomain: string; }

export default class MyChart extends Chart {
  constructor(scope: Construct, name: string, { app }: Props) {
    super(scope, name);
    const labels = { 'modoki-app': app.metadata.name };
    ${body}
  }
}`;
const containers = "[{ name: 'main', image: app.spec.image, ports: [{ containerPort: 80 }] }]";
const spec = `{ selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers: ${containers} } } }`;

describe("imports/k8s", () => {
  test("has the classes of the first cdk8s, and renders their Ingress in the current version", async () => {
    const source = typed(`
      new k8s.Deployment(this, 'main-deployment', { metadata: { labels }, spec: ${spec} });
      const service = new k8s.Service(this, 'service', { spec: { selector: labels, ports: [{ port: 80 }] } });
      const backend = { serviceName: service.name, servicePort: 80 };
      new k8s.Ingress(this, 'ingress', { spec: { rules: [{ host: 'a.example.com', http: { paths: [{ backend, path: '/' }] } }] } });`);
    const [deployment, service, ingress] = (await renderedFrom(source)) as Record<string, unknown>[];
    expect(deployment).toMatchObject({
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { labels: { "modoki-app": "web" } },
    });
    const name = expect.stringMatching(/^modoki-web-service-[0-9a-f]{8}$/);
    expect(service).toMatchObject({ apiVersion: "v1", kind: "Service", metadata: { name } });
    expect(ingress).toMatchObject({
      apiVersion: "networking.k8s.io/v1",
      spec: {
        rules: [
          {
            http: {
              paths: [
                { pathType: "ImplementationSpecific", backend: { service: { name, port: { number: 80 } } } },
              ],
            },
          },
        ],
      },
    });
  });

  test.each([["./imports/k8s"], ["../imports/k8s.ts"], ["imports/k8s"], ["../../imports/k8s.js"]])(
    "has the current classes, imported by name from %s",
    async (from) => {
      const imports = `import { KubeDeployment, KubeHorizontalPodAutoscalerV2 as Scaler, IntOrString, Quantity, PodSpec } from '${from}';`;
      const source = typed(
        `const pod: PodSpec = { containers: [{ name: 'a', resources: { limits: { cpu: Quantity.fromNumber(1) } },
           livenessProbe: { httpGet: { port: IntOrString.fromString('http') } } }] };
         new KubeDeployment(this, 'd', { metadata: { name: 'd' }, spec: { selector: {}, template: { spec: pod } } });
         new Scaler(this, 's', { metadata: { name: 's' }, spec: { maxReplicas: 2 } });`,
        imports,
      );
      expect(await renderedFrom(source)).toMatchObject([
        {
          apiVersion: "apps/v1",
          spec: {
            template: {
              spec: {
                containers: [
                  { livenessProbe: { httpGet: { port: "http" } }, resources: { limits: { cpu: 1 } } },
                ],
              },
            },
          },
        },
        { apiVersion: "autoscaling/v2", kind: "HorizontalPodAutoscaler" },
      ]);
    },
  );

  test.each([
    [
      "all names besides some",
      "import * as all from '../imports/k8s'; import { IntOrString, PodSpec } from '../imports/k8s';",
    ],
    ["types alone", "import * as all from '../imports/k8s'; import { type Missing } from 'nowhere';"],
    [
      "only types of the same module",
      "import * as all from '../imports/k8s'; import { type PodSpec } from '../imports/k8s';",
    ],
  ])("is complete when a chart imports %s", async (_, imports) => {
    const source = typed("new all.KubeConfigMap(this, 'c', { metadata: { name: 'c' } });", imports);
    expect(await renderedFrom(source)).toEqual([
      { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" } },
    ]);
  });

  test.each([
    ["a missing class", "new k8sThing(this, 'x', {});", "imports/k8s has no export Thing, or it is a type"],
    [
      "a type, as a value",
      "console.log(new Deploy());",
      "imports/k8s has no export DeploymentSpec, or it is a type",
    ],
  ])("lacks %s, and names it on use", async (_, body, message) => {
    const imports = "import { Thing as k8sThing, DeploymentSpec as Deploy } from '../imports/k8s';";
    await expect(renderedFrom(typed(body, imports))).rejects.toMatchObject({
      reason: "ChartThrew",
      message: expect.stringContaining(message),
    });
  });
});

describe("modules of the site", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "denrei-modules-"));
    const put = (path: string, text: string) => {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    };
    cpSync("node_modules/cdk8s-plus-33", join(folder, "node_modules/cdk8s-plus-33"), {
      recursive: true,
      filter: (path) => !/(\.d\.ts|\.jsii|\/docs)$/.test(path),
    });
    // In the style of `cdk8s import`.
    put(
      "imports/cert-manager.io.ts",
      `import { ApiObject, ApiObjectMetadata, GroupVersionKind } from 'cdk8s';
       import { Construct } from 'constructs';
       import { textOf } from './texts';
       export class Certificate extends ApiObject {
         public static readonly GVK: GroupVersionKind = { apiVersion: 'cert-manager.io/v1', kind: 'Certificate' };
         public constructor(scope: Construct, id: string, props: CertificateProps = {}) {
           super(scope, id, { ...Certificate.GVK, ...props, spec: { usages: [CertificateUsage.SERVER], note: textOf(1) } });
         }
       }
       export interface CertificateProps { readonly metadata?: ApiObjectMetadata }
       export enum CertificateUsage { SERVER = "server auth" }`,
    );
    put("imports/sizes.json", '{ "text": "2" }');
    put("node_modules/dial/package.json", '{ "name": "dial", "main": "index.js" }');
    put("node_modules/closed/package.json", '{ "name": "closed", "exports": { "./in": "./in.js" } }');
    put("imports/texts.ts", "export const textOf = (value: number): string => String(value);");
    put(
      "node_modules/dial/index.js",
      `const attempts = {
         net: () => require("node:net"), worker: () => require("worker_threads"), module: () => require("module"),
         read: () => require("fs").readFileSync("/etc/hostname"), load: () => module.constructor._load("net"),
         data: () => require("data:text/javascript,1"), file: () => require("/etc/hostname"), up: () => require("../../../x.js"),
         hooked() {
           module.constructor.registerHooks({ resolve: () => ({ url: "node:net", shortCircuit: true }) });
           return require("anything");
         },
         compiled() {
           const [, ours] = /file:\\/\\/(\\S+\\/child\\/)contract/.exec(new Error().stack);
           const fake = new module.constructor("x");
           fake.filename = ours + "main.ts";
           fake._compile("module.exports = require('node:net')", ours + "main.ts");
           return fake.exports;
         },
       };
       exports.results = () => Object.fromEntries(Object.entries(attempts).map(([name, attempt]) => {
         try { return [name, "done: " + typeof attempt()]; } catch (error) { return [name, "refused"]; }
       }));`,
    );
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("include cdk8s-plus", async () => {
    const source = typed(
      `const deployment = new kplus.Deployment(this, 'web', { containers: [{ image: 'web:1', portNumber: 8080 }] });
       deployment.exposeViaService({ ports: [{ port: 80, targetPort: 8080 }] });`,
      "import * as kplus from 'cdk8s-plus-33';",
    );
    const rendered = (await renderedFrom(source, { modules: folder })) as {
      kind: string;
      spec: { selector: unknown };
    }[];
    expect(rendered.map(({ kind }) => kind)).toEqual(["Deployment", "Service"]);
    expect(rendered[0]?.spec.selector).toEqual({ matchLabels: rendered[1]?.spec.selector });
  });

  test("come from the folder in the worker's variable", async () => {
    const imports = "import { textOf } from '../imports/texts';";
    const source = typed(
      "new ApiObject(this, 'a', { apiVersion: 'v1', kind: 'ConfigMap', data: { a: textOf(2) } });",
      imports,
    );
    const text = source.replace("{ Chart,", "{ ApiObject, Chart,");
    const siteOf = { config: parseConfig(""), chart: { source: text, language: "ts" } } as const;
    const chart = siteChartOf(siteOf, { DENREI_CHART_MODULES: folder }) as SourceChart;
    onTestFinished(() => chart.close());
    expect(await renderedBy(chart)).toMatchObject([{ kind: "ConfigMap", data: { a: "2" } }]);
    expect(siteChartOf(siteOf, {}).id).not.toBe(chart.id);
  });

  test.each([
    ["import { textOf } from './texts';", "textOf(2)"],
    ["import { textOf } from 'imports/texts';", "textOf(2)"],
    ["import sizes from '../imports/sizes.json' with { type: 'json' };", "sizes.text"],
  ])("include helpers next to the chart, as in %s", async (imports, value) => {
    const object = `{ apiVersion: 'v1', kind: 'ConfigMap', data: { a: ${value} } }`;
    const source = `${imports} export default () => (${object});`;
    expect(await renderedFrom(source, { modules: folder })).toMatchObject([{ data: { a: "2" } }]);
  });

  test("restrict by their package exports what a chart may import", async () => {
    const source = `import "closed/out"; export default () => [];`;
    await expect(renderedFrom(source, { modules: folder })).rejects.toMatchObject({
      reason: "ChartNotLoaded",
      message: expect.stringContaining(`Package subpath './out' is not defined by "exports"`),
    });
  });

  test("include generated imports in TypeScript, with enums and types", async () => {
    const source = typed(
      "new Certificate(this, 'c', { metadata: { name: 'c' } });",
      "import { Certificate, CertificateProps } from '../imports/cert-manager.io';",
    );
    expect(await renderedFrom(source, { modules: folder })).toEqual([
      {
        apiVersion: "cert-manager.io/v1",
        kind: "Certificate",
        metadata: { name: "c" },
        spec: { usages: ["server auth"], note: "1" },
      },
    ]);
  });

  test("cannot reach the network, files, and other modules", async () => {
    const source = `import { results } from "dial";
      export default () => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: results() });`;
    const [found] = (await renderedFrom(source, { modules: folder })) as { data: Record<string, string> }[];
    expect(new Set(Object.values(found?.data ?? {}))).toEqual(new Set(["refused"]));
    expect(Object.keys(found?.data ?? {})).toHaveLength(10);
  });

  test.each([
    "node:net",
    "file:///etc/hostname",
    "data:text/javascript,export default 1",
    "../../etc/hostname",
    "dial/../../../x.js",
    "chart:names/0",
    "cdk8s/lib/app",
  ])("do not let a chart import %s", async (specifier) => {
    await expect(
      renderedFrom(`import * as x from "${specifier}"; export default () => [x];`, { modules: folder }),
    ).rejects.toMatchObject({
      reason: "ChartNotLoaded",
      message: expect.stringContaining(`Put it in node_modules or imports of the folder ${folder}`),
    });
  });

  test("are named when they do not exist, with the available modules and how to add one", async () => {
    const chart = typed("new kplus.Deployment(this, 'web');", "import * as kplus from 'cdk8s-plus-31';");
    await expect(renderedFrom(chart)).rejects.toMatchObject({
      reason: "ChartNotLoaded",
      message: expect.stringMatching(
        /charts may import cdk8s, constructs, imports\/k8s, .*but not "cdk8s-plus-31"\. This site provides none: set DENREI_CHART_MODULES .* to a folder/,
      ),
    });
    await expect(renderedFrom(chart, { modules: join(folder, "none") })).rejects.toMatchObject({
      reason: "ChartNotLoaded",
      message: expect.stringContaining("cannot read the folder of the site's modules"),
    });
  });
});

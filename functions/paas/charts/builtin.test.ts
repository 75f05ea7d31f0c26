import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Application } from "../kinds/application.ts";
import { builtinChart, builtinSource } from "./builtin.ts";
import type { ChartApplication } from "./chart.ts";
import { siteSchema } from "./site.ts";
import { checkedObjects } from "./validate.ts";

const render = (app: ChartApplication, site: object) =>
  builtinChart.render(app, siteSchema.parse(site), AbortSignal.timeout(10_000));

const word = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,10}[a-z0-9])?$/);
const name = fc
  .array(word, { minLength: 1, maxLength: 6 })
  .map((words) => words.join("."))
  .filter(({ length }) => length <= 63);
const text = fc.string({ maxLength: 20 });
const optional = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined });
const quantities = fc.dictionary(fc.constantFrom("cpu", "memory"), fc.constantFrom(1, "256Mi", "500m"));
const variable = fc.oneof(
  fc.record({ name: fc.constantFrom("PORT", "A", "B", "C"), value: text }),
  fc.record({
    name: fc.constantFrom("D", "E"),
    valueFrom: fc.record({ secretKeyRef: fc.record({ name, key: word }) }),
  }),
);
const spec = fc.record(
  {
    domains: fc.uniqueArray(name, { maxLength: 50 }),
    image: fc.oneof(fc.constant(""), word),
    command: fc.array(text),
    args: fc.array(text),
    attributes: fc.dictionary(word, text),
    serviceAccount: fc.oneof(fc.constant(""), name),
    imagePullSecret: fc.oneof(fc.constant(""), name),
    imagePullSecrets: fc.uniqueArray(fc.record({ name }), { selector: (each) => each.name }),
    env: fc.uniqueArray(variable, { selector: (each) => each.name }),
    envFrom: fc.array(fc.record({ secretRef: fc.record({ name }) })),
    replicas: fc.nat(20),
    port: fc.integer({ min: 1, max: 65535 }),
    resources: fc.record({ requests: quantities, limits: quantities }, { requiredKeys: [] }),
    healthCheck: fc.record({ path: text.map((rest) => `/${rest}`) }),
  },
  { requiredKeys: ["domains", "replicas"] },
);
const application: fc.Arbitrary<ChartApplication> = fc.record({
  apiVersion: fc.constant("modoki.tsuzu.dev/v1alpha1"),
  kind: fc.constant("Application"),
  metadata: fc.record({
    name,
    namespace: word,
    uid: fc.uuid(),
    labels: fc.dictionary(word, word),
    annotations: fc.dictionary(word, text),
  }),
  spec,
});
const site = fc.record({
  scheme: fc.constantFrom("http", "https"),
  gateway: optional(fc.record({ name: word, namespace: word })),
  ingress: optional(fc.record({ className: word }, { requiredKeys: [] })),
  podSecurity: fc.constantFrom("baseline", "restricted"),
});

/** The fields that tie a Deployment and a Service together. */
interface Tied {
  readonly selector: object;
  readonly template: {
    readonly metadata: { readonly labels: object };
    readonly spec: { readonly containers: readonly { readonly env: readonly { readonly name: string }[] }[] };
  };
}

test("renders any valid application into valid, reproducible, and connected objects", async () => {
  await fc.assert(
    fc.asyncProperty(application, site, async (app, config) => {
      expect(Application.definition?.spec.safeParse(app.spec).error).toBeUndefined();
      const { namespace, name: appName } = app.metadata;
      const rendered = await render(app, config);
      expect(JSON.stringify(await render(structuredClone(app), structuredClone(config)))).toBe(
        JSON.stringify(rendered),
      );
      const [deployment, service, ...routes] = checkedObjects(rendered, { namespace });

      expect(routes.map(({ kind }) => kind)).toEqual(
        config.gateway === undefined
          ? app.spec.domains.length === 0
            ? []
            : ["Ingress"]
          : Array.from({ length: Math.ceil(app.spec.domains.length / 16) }, () => "HTTPRoute"),
      );
      for (const object of [deployment, service, ...routes]) {
        expect(object?.metadata.labels).toMatchObject({
          "modoki-app": appName,
          "app.kubernetes.io/name": appName,
          "app.kubernetes.io/instance": appName,
          "app.kubernetes.io/managed-by": "modoki",
        });
        expect(object?.metadata.name).toMatch(/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/);
      }
      expect(deployment?.metadata.name).toBe(service?.metadata.name);
      if (routes.length > 0) expect(routes[0]?.metadata.name).toBe(service?.metadata.name);

      const { template, selector } = deployment!.spec as Tied;
      expect(selector).toEqual({ matchLabels: { "modoki-app": appName } });
      expect(template.metadata.labels).toMatchObject({ "modoki-app": appName });
      expect((service!.spec as Tied).selector).toEqual({ "modoki-app": appName });
      const names = template.spec.containers[0]?.env.map((each) => each.name);
      expect(new Set(names).size).toBe(names?.length);
      expect(names).toContain("PORT");
    }),
  );
});

test("gives two applications of a namespace no common objects", async () => {
  const keys = async (app: ChartApplication, of: string) => {
    const metadata = { ...app.metadata, name: of };
    const attributes = { "modoki.tsuzu.dev/oauth2": "default" };
    const rendered = await render({ ...app, metadata, spec: { ...app.spec, attributes } }, {});
    return checkedObjects(rendered, { namespace: app.metadata.namespace }).map(
      ({ kind, metadata: { name } }) => `${kind}/${name}`,
    );
  };
  await fc.assert(
    fc.asyncProperty(application, name, fc.constantFrom("-oauth2", ".oauth2", "-"), async (app, a, end) => {
      const b = `${a}${end === "-" ? "x" : end}`;
      const both = [...(await keys(app, a)), ...(await keys(app, b))];
      expect(new Set(both).size).toBe(both.length);
    }),
  );
});

test("changes its id with its source", async () => {
  const text = await readFile(new URL("./default/chart.ts", import.meta.url), "utf8");
  expect(builtinSource).toBe(text);
  const digest = createHash("sha256").update(text).digest("hex");
  expect(builtinChart.id).toBe(`builtin:${digest.slice(0, 16)}`);
});

test("imports nothing, so that it can be used elsewhere", () => {
  expect(builtinSource).not.toMatch(/^\s*(import|export .* from)\b|\b(import|require)\(/m);
});

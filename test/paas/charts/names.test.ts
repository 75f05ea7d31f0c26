import { expect, test } from "vitest";
import { chartOf, renderedBy } from "./sources.ts";

// Names that cdk8s 0.27 gave objects of modoki-operator: a migrated site keeps them.
test("names objects as the first cdk8s did", async () => {
  const source = `
    import { ApiObject, Chart } from "cdk8s";
    export default class extends Chart {
      constructor(scope, id, props) {
        super(scope, id);
        for (const part of ["main-deployment", "service", "ingress"]) {
          new ApiObject(this, part, { apiVersion: "v1", kind: "ConfigMap" });
        }
      }
    }`;
  const chart = chartOf(source);
  const names = async (name: string) =>
    ((await renderedBy(chart, name)) as { metadata: { name: string } }[]).map(
      ({ metadata }) => metadata.name,
    );

  expect(await names("application-sample2")).toEqual([
    "modoki-application-sample2-main-deployment-09994dff",
    "modoki-application-sample2-service-5833ce29",
    "modoki-application-sample2-ingress-f6e40199",
  ]);
  expect(await names("blog")).toEqual([
    "modoki-blog-main-deployment-d116b5ed",
    "modoki-blog-service-c31ce115",
    "modoki-blog-ingress-32e275c7",
  ]);
  expect((await names("foo.bar"))[1]).toBe("modoki-foobar-service-0d85fd19");
  expect((await names("foobar"))[1]).toBe("modoki-foobar-service-9ae4ca65");
  expect((await names("modoki-pipeline-web-pr-12"))[0]).toBe(
    "modoki-modoki-pipeline-web-pr-12-main-deployment-d3416ac6",
  );
  expect((await names("a-very-long-application-name-for-a-preview-environment-pr-1234")).slice(0, 2)).toEqual(
    [
      "modoki-a-very-long-application-name-fo-main-deployment-736dfc36",
      "modoki-a-very-long-application-name-for-a-prev-service-f1bcdc88",
    ],
  );
});

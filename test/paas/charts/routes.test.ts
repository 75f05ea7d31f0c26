import { describe, expect, test } from "vitest";
import {
  application,
  deployment,
  gateway,
  ingress,
  metadata,
  objects,
  render,
  route,
  service,
} from "./expected.ts";

describe("the route", () => {
  test("is one HTTPRoute per 16 hosts", async () => {
    const domains = Array.from({ length: 33 }, (_, index) => `h${index}.example.com`);
    const routes = (await objects(application({ domains: [...domains, "h0.example.com"] }))).slice(2);
    expect(routes.map(({ spec }) => (spec.hostnames as string[]).length)).toEqual([16, 16, 1]);
    expect(routes.flatMap(({ spec }) => spec.hostnames)).toEqual(domains);
    expect(routes.map((each) => each.metadata.name)).toEqual([
      "web",
      expect.stringMatching(/^web-hosts-2-[0-9a-f]{8}$/),
      expect.stringMatching(/^web-hosts-3-[0-9a-f]{8}$/),
    ]);
  });

  test("names the site's listener", async () => {
    const found = (await objects(application(), { gateway: { ...gateway, sectionName: "https" } }))[2];
    expect(found?.spec.parentRefs).toEqual([{ ...route.spec.parentRefs[0], sectionName: "https" }]);
  });

  test("is an Ingress with the site's settings, which stay unchanged", async () => {
    const site = {
      ingress: {
        className: "public",
        annotations: { "example.com/a": "2" },
        tlsSecretName: "wildcard",
      },
      tlsSecretName: "older",
      ingressAnnotations: {
        "kubernetes.io/ingress.class": "nginx",
        "example.com/a": "1",
        "example.com/b": "1",
      },
    };
    const before = structuredClone(site);
    expect((await render(application(), site))[2]).toEqual({
      ...ingress,
      metadata: { ...metadata, annotations: { "example.com/a": "2", "example.com/b": "1" } },
      spec: {
        ...ingress.spec,
        ingressClassName: "public",
        tls: [{ hosts: ["web.example.com"], secretName: "wildcard" }],
      },
    });
    expect(site).toEqual(before);
  });

  test("follows modoki-operator's configuration", async () => {
    const annotations = { "kubernetes.io/ingress.class": "nginx" };
    const found = await render(application(), { ingressAnnotations: annotations, tlsSecretName: "tls" });
    expect(found[2]).toEqual({
      ...ingress,
      metadata: { ...metadata, annotations },
      spec: { ...ingress.spec, tls: [{ hosts: ["web.example.com"], secretName: "tls" }] },
    });
  });

  test("has no TLS when the site uses http", async () => {
    const { tls: _, ...spec } = ingress.spec;
    expect((await render(application(), { scheme: "http" }))[2]).toEqual({ ...ingress, spec });
  });
});

describe("the attribute oauth2", () => {
  const login = application({ attributes: { "modoki.tsuzu.dev/oauth2": "default" } });
  const name = expect.stringMatching(/^web-oauth2-[0-9a-f]{8}$/);
  const auth = {
    "nginx.ingress.kubernetes.io/auth-url": "https://$host/oauth2/auth",
    "nginx.ingress.kubernetes.io/auth-signin": "https://$host/oauth2/start?rd=$escaped_request_uri",
  };

  // B7 of modoki-operator: both Ingresses had the same name, and both required a login.
  test("requires a login everywhere except for the login itself", async () => {
    const site = { ingress: { annotations: { "example.com/a": "1" } } };
    expect(await render(login, site)).toEqual([
      deployment,
      service,
      { ...ingress, metadata: { ...metadata, annotations: { ...auth, "example.com/a": "1" } } },
      {
        apiVersion: "v1",
        kind: "Service",
        metadata: { ...metadata, name },
        spec: {
          type: "ExternalName",
          externalName: "oauth2-proxy.modoki-operator-system.svc.cluster.local",
          ports: [{ name: "http", port: 4180, protocol: "TCP", targetPort: 4180 }],
        },
      },
      {
        ...ingress,
        metadata: { ...metadata, name, annotations: { "example.com/a": "1" } },
        spec: {
          rules: [
            {
              host: "web.example.com",
              http: {
                paths: [
                  {
                    path: "/oauth2",
                    pathType: "Prefix",
                    backend: { service: { name, port: { number: 4180 } } },
                  },
                ],
              },
            },
          ],
          tls: [{ hosts: ["web.example.com"] }],
        },
      },
    ]);
    const [, , , proxy, ingressOfProxy] = await objects(login, site);
    expect(ingressOfProxy?.spec).toMatchObject({
      rules: [{ http: { paths: [{ backend: { service: { name: proxy?.metadata.name } } }] } }],
    });
  });

  test("uses the Ingress of a site that has both", async () => {
    const kinds = (await objects(login, { gateway, ingress: {} })).map(({ kind }) => kind);
    expect(kinds).toEqual(["Deployment", "Service", "Ingress", "Service", "Ingress"]);
  });

  test("is refused when the site cannot require logins", async () => {
    await expect(render(login, { gateway })).rejects.toMatchObject({
      reason: "ChartThrew",
      message: expect.stringContaining("Add ingress to the site's configuration"),
    });
  });

  test("is refused when it is misspelled", async () => {
    const misspelt = application({ attributes: { "modoki.tsuzu.dev/oauth2": "Default" } });
    await expect(render(misspelt, {})).rejects.toThrow('must be default, found "Default"');
  });

  test("requires no login when it is empty", async () => {
    const empty = application({ attributes: { "modoki.tsuzu.dev/oauth2": "" } });
    expect(await render(empty)).toEqual([deployment, service, route]);
  });
});

describe("names", () => {
  const nameFor = async (name: string) => (await objects(application({}, { name })))[1]?.metadata.name;

  test.each(["web", "a", "web-1", "x".repeat(63)])("keep %s", async (name) => {
    expect(await nameFor(name)).toBe(name);
  });

  test.each([
    ["foo.bar", "foo-bar-5545c2c1"],
    ["1st", "app-1st-099f2a0c"],
    ["x".repeat(64), `${"x".repeat(54)}-e12b5e5e`],
  ])("replace %s, which is no Service name, by %s", async (name, expected) => {
    expect(await nameFor(name)).toBe(expected);
  });

  test("of two applications differ when only a dot does", async () => {
    expect(await nameFor("foo.bar")).not.toBe(await nameFor("foo.-bar"));
    expect(await nameFor("foo.bar")).not.toBe(await nameFor("foo-bar"));
  });
});

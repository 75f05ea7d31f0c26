import { expect, test } from "vitest";
import { modernIngress } from "./oldingress.ts";

const old = (serviceName: string, servicePort: number | string) => ({ serviceName, servicePort });

test("converts backends, paths, and the default backend of v1beta1", () => {
  const spec = {
    backend: old("rest", 80),
    rules: [{ host: "a.example.com", http: { paths: [{ path: "/", backend: old("web", "http") }] } }],
    tls: [{ hosts: ["a.example.com"] }],
  };
  expect(modernIngress({ metadata: { name: "a" }, spec })).toEqual({
    metadata: { name: "a" },
    spec: {
      defaultBackend: { service: { name: "rest", port: { number: 80 } } },
      rules: [
        {
          host: "a.example.com",
          http: {
            paths: [
              {
                path: "/",
                pathType: "ImplementationSpecific",
                backend: { service: { name: "web", port: { name: "http" } } },
              },
            ],
          },
        },
      ],
      tls: [{ hosts: ["a.example.com"] }],
    },
  });
});

test.each([
  [{ metadata: { name: "a" } }],
  [{ spec: { defaultBackend: { service: { name: "a", port: { number: 80 } } } } }],
  [
    {
      spec: {
        rules: [
          { host: "a" },
          { http: { paths: [{ pathType: "Exact", backend: { resource: { name: "b" } } }] } },
        ],
      },
    },
  ],
  [{ spec: { rules: "none" } }],
])("leaves an Ingress of v1, and invalid input, unchanged: %j", (fields) => {
  expect(modernIngress(fields)).toEqual(fields);
});

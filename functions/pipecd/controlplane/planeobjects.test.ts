import { expect, test } from "vitest";
import type { Blueprint } from "./parts.ts";
import { configMaps, gatewayService } from "./planeobjects.ts";

const blueprint = (name: string): Blueprint => ({
  plane: {
    metadata: { name, namespace: "ns" },
    spec: { version: "v0.57.0", config: { datastore: {}, filestore: {} } },
  },
  profile: "C",
  config: "of PipeCD",
  envoy: "of Envoy",
  secrets: "",
  datastoreSince: undefined,
});

test("PipeCD's ConfigMap has a fixed name, and the gateway's starts with the control plane's name", () => {
  const found = configMaps(blueprint("cp")).map(({ kind, name, content }) => [kind.kind, name, content]);
  expect(found).toEqual([
    ["ConfigMap", "pipecd", { data: { "control-plane-config.yaml": "of PipeCD" } }],
    ["ConfigMap", "cp-gateway", { data: { "envoy-config.yaml": "of Envoy" } }],
  ]);
});

test.each(["cp", "other"])("users and pipeds reach the gateway of %s at pipecd:8080", (name) => {
  const { kind, name: service, content } = gatewayService(blueprint(name).plane);
  expect([kind.kind, service]).toEqual(["Service", "pipecd"]);
  expect(content).toEqual({
    spec: {
      type: "NodePort",
      selector: {
        "app.kubernetes.io/name": "pipecd",
        "app.kubernetes.io/instance": "pipecd",
        "app.kubernetes.io/component": "gateway",
        "pipecd.kanatakita.com/control-plane": name,
      },
      ports: [{ name: "service", port: 8080, targetPort: "ingress", protocol: "TCP" }],
    },
  });
});

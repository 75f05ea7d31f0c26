/** Values that are misspelt, or can not be. */
import type { Values } from "./chart.ts";

/** Values that Helm does not take. */
export const refused: readonly Values[] = [
  { imgae: {} },
  { image: { tags: "1" } },
  { image: { digest: "sha256:1" } },
  { settings: { DENREI_LOG_LEVELS: "warn" } },
  { settings: { DENREI_CLUSTER: "other" } },
  { bridge: { replica: 2 } },
  { functions: { hikawas: { enabled: false } } },
  { functions: { hikawa: { enable: false } } },
  { nats: { servers: 2 } },
  { nats: { storage: "much" } },
  { nats: { external: { url: "nats://plain.example.com" } } },
  { autoscaling: "vpa" },
  { networkPolicies: { enabled: "yes" } },
  { networkPolicies: { apiServer: [{ ipBlock: { cidr: "203.0.113.1/32" } }] } },
  { networkPolicies: { apiServer: [{ to: [{ ipBlock: { cidr: "203.0.113.1/32" } }] }] } },
  { networkPolicies: { apiServer: [{ to: [], ports: [{ protocol: "TCP", port: 8443 }] }] } },
  { ingress: { hosts: [] } },
];

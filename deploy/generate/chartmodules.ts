/** The patch of the component `chart-modules`: an init container copies the modules of an image for the workers that render charts. */

import type { WorkerSet } from "./layout.ts";
import { workloadName } from "./rbac.ts";

/** The function that renders charts. */
export const chartFunction = "modoki-application";

const folder = "/chart";

/** The patch of the Deployment of these workers. */
export const chartModulesPatch = (set: WorkerSet, container: "worker" | "run", namespace: string) => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: workloadName(set), namespace },
  spec: {
    template: {
      spec: {
        initContainers: [
          {
            name: "chart-modules",
            image: "chart-modules",
            command: ["cp", "-r", "/modules/.", folder],
            resources: { requests: { cpu: "10m", memory: "32Mi" }, limits: { memory: "128Mi" } },
            securityContext: {
              allowPrivilegeEscalation: false,
              readOnlyRootFilesystem: true,
              capabilities: { drop: ["ALL"] },
            },
            volumeMounts: [{ name: "chart", mountPath: folder }],
          },
        ],
        containers: [
          {
            name: container,
            env: [{ name: "DENREI_CHART_MODULES", value: folder }],
            volumeMounts: [{ name: "chart", mountPath: folder, readOnly: true }],
          },
        ],
        volumes: [{ name: "chart", emptyDir: { sizeLimit: "512Mi" } }],
      },
    },
  },
});

import { describe, expect, test } from "vitest";
import type { Stored } from "../../../bus/kube/object.ts";
import type { ControlPlane, Piped } from "../kinds.ts";
import { imagesOf, isV1, profileOf } from "../profile.ts";
import { profileOfPiped, v1Problem } from "./desiredpiped.ts";
import { objectsOf } from "./pipedobjects.ts";

const planeOf = (version: string): Stored<ControlPlane> => ({
  apiVersion: "pipecd.kanatakita.com/v1alpha1",
  kind: "ControlPlane",
  metadata: { name: "plane", namespace: "ns", uid: "u", resourceVersion: "1" },
  spec: { version, config: { datastore: {}, filestore: {} } },
});
const pipedOf = (version: string): Pick<Piped, "metadata" | "spec"> => ({
  metadata: { name: "p", namespace: "ns" },
  spec: {
    version,
    name: "agent",
    description: "",
    projectID: "q",
    config: { apiAddress: "pipecd:8080", webAddress: "" },
  },
});

describe("an agent of v1", () => {
  test.each(["v1.0.0-rc4", "v1.0.0-rc6", "v1.0.0-rc10", "v1.0.0-alpha1", "v1.0.0", "v1.3.0"])(
    "%s runs at a control plane of v0.52.0",
    (version) => {
      expect(isV1(version)).toBe(true);
      expect(v1Problem(version, planeOf("v0.52.0"))).toBeUndefined();
      expect(profileOfPiped(pipedOf(version) as Piped, planeOf("v0.52.0"))).toBe("C");
    },
  );

  test.each(["v0.9.0", "v0.37.1", "v0.51.3"])("does not run at a control plane of %s", (version) => {
    expect(() => profileOfPiped(pipedOf("v1.0.0") as Piped, planeOf(version))).toThrow(
      expect.objectContaining({
        reason: "VersionMismatch",
        message: `the agent PipeCD v1.0.0 needs a ControlPlane of v0.52.0 or later: plane has ${version}`,
      }),
    );
  });

  test.each(["v1.0.0-rc0", "v1.0.0-rc3"])("%s is not supported", (version) => {
    expect(() => profileOfPiped(pipedOf(version) as Piped, planeOf("v0.57.0"))).toThrow(
      expect.objectContaining({
        reason: "VersionNotSupported",
        message: `the agent PipeCD ${version} is not supported: expected v1.0.0-rc4 or later`,
      }),
    );
  });
});

test("rejects a control plane of v1", () => {
  expect(profileOf("v1.0.0").problem).toContain("PipeCD v1.0.0 is not supported");
});

test("an agent of v1 has its own image repository", () => {
  expect(imagesOf("C", "v1.0.0-rc6", {}).piped).toBe("ghcr.io/pipe-cd/pipedv1-exp:v1.0.0-rc6");
  const env = {
    DENREI_PIPECD_PIPED_V1_IMAGE_REPOSITORY: "m/v1",
    DENREI_PIPECD_PIPED_IMAGE_REPOSITORY: "m/v0",
  };
  expect(imagesOf("C", "v1.0.0-rc6", env).piped).toBe("m/v1:v1.0.0-rc6");
  expect(imagesOf("C", "v0.57.0", env).piped).toBe("m/v0:v0.57.0");
});

test("the pod of an agent of v1 uses only flags that v1 has", () => {
  const objects = objectsOf({
    piped: pipedOf("v1.0.0-rc6"),
    profile: "C",
    pipedID: "id",
    config: "config",
    secrets: "secrets",
  });
  const deployment = objects.find(({ kind }) => kind.kind === "Deployment");
  const httpGet = { path: "/healthz", port: "admin" };
  expect(deployment?.content).toMatchObject({
    spec: {
      template: {
        spec: {
          containers: [
            {
              image: "ghcr.io/pipe-cd/pipedv1-exp:v1.0.0-rc6",
              args: [
                "run",
                "--config-file=/etc/piped-config/piped-config.yaml",
                "--metrics=true",
                "--insecure=true",
                "--log-encoding=humanize",
                "--log-level=info",
                "--add-login-user-to-passwd=false",
              ],
              ports: [{ name: "admin", containerPort: 9085, protocol: "TCP" }],
              readinessProbe: { httpGet },
              livenessProbe: { httpGet, periodSeconds: 30, failureThreshold: 3 },
            },
          ],
        },
      },
    },
  });
});

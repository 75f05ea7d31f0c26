import { expect, test } from "vitest";
import { defaultVersions } from "./defaultversions.ts";
import {
  cacheImage,
  envoyProblem,
  gatewayImage,
  imagesOf,
  profileOf,
  repositoryVariables,
  storeImage,
} from "./profile.ts";

test.each([
  ["v0.8.0", "L0"],
  ["v0.8.7", "L0"],
  ["v0.9.0", "L0"],
  ["v0.9.0-rc0", "L0"],
  ["v0.37.1", "C"],
  ["v0.38.0-rc0", "C"],
  ["v0.49.0", "C"],
  ["v0.57.0", "C"],
  ["v0.57.0-rc1", "C"],
  ["v0.57.1-12-gabcdef0", "C"],
  ["v0.100.0", "C"],
])("%s has the profile %s", (version, profile) => {
  expect(profileOf(version)).toEqual({ profile });
});

const ranges = "expected v0.8.0 to v0.9.0, or v0.37.1 and later v0 versions";

test.each(["v0.7.9", "v0.12.1", "v0.27.4", "v0.36.0", "v0.37.0", "v1.0.0"])(
  "%s is not supported",
  (version) => {
    expect(profileOf(version)).toEqual({ problem: `PipeCD ${version} is not supported: ${ranges}` });
  },
);

test.each(["v0.9.1", "v0.12.0"])(
  "%s is not supported, and the message names a version with MongoDB",
  (version) => {
    expect(profileOf(version)).toEqual({
      problem: `PipeCD ${version} is not supported: ${ranges}; to keep a MongoDB, which needs v0.12.0 or older, use v0.9.0`,
    });
  },
);

test.each(["", "0.57.0", "v0.57", "latest", "v0.57.0 ", "v0.057.0", "v0.57.0-", "v0.57.0+x"])(
  "%j is not a version",
  (version) => {
    expect(profileOf(version)).toEqual({
      problem: `${JSON.stringify(version)} is not a version of PipeCD: ${ranges}, written like v0.57.0`,
    });
  },
);

test("takes images from the repository that their version was published to", () => {
  expect(imagesOf("L0", "v0.9.0", {})).toEqual({
    server: "gcr.io/pipecd/server:v0.9.0",
    ops: "gcr.io/pipecd/ops:v0.9.0",
    piped: "gcr.io/pipecd/piped:v0.9.0",
  });
  expect(imagesOf("C", "v0.37.1", {})).toEqual({
    server: "ghcr.io/pipe-cd/pipecd:v0.37.1",
    ops: "ghcr.io/pipe-cd/pipecd:v0.37.1",
    piped: "ghcr.io/pipe-cd/piped:v0.37.1",
  });
  expect(imagesOf("C", "v0.57.0", {})).toEqual({
    server: "ghcr.io/pipe-cd/pipecd:v0.57.0",
    ops: "ghcr.io/pipe-cd/pipecd:v0.57.0",
    piped: "ghcr.io/pipe-cd/piped:v0.57.0",
  });
  expect(imagesOf("C", "v0.57.1", {})).toEqual({
    server: "ghcr.io/pipe-cd/controlplane:v0.57.1",
    ops: "ghcr.io/pipe-cd/controlplane:v0.57.1",
    piped: "ghcr.io/pipe-cd/piped:v0.57.1",
  });
  expect(cacheImage(undefined, {})).toBe("redis:5.0.5-alpine3.9");
  expect(storeImage("minio", undefined, {})).toBe("minio/minio:RELEASE.2020-08-26T00-00-49Z");
  expect(storeImage("mongo", undefined, {})).toBe("mongo:4.2");
  expect(storeImage("mysql", undefined, {})).toBe("mysql:8.0.33");
  expect(storeImage("mysql", "8.4", {})).toBe("mysql:8.4");
});

test("environment variables replace repositories", () => {
  const env = Object.fromEntries(
    Object.entries(repositoryVariables).map(([part, variable]) => [variable, `mirror.example.com/${part}`]),
  );
  expect(imagesOf("C", "v0.57.0", env)).toEqual({
    server: "mirror.example.com/server:v0.57.0",
    ops: "mirror.example.com/ops:v0.57.0",
    piped: "mirror.example.com/piped:v0.57.0",
  });
  expect(imagesOf("L0", "v0.9.0", env).ops).toBe("mirror.example.com/ops:v0.9.0");
  expect(gatewayImage("v1.31.0", env)).toBe("mirror.example.com/gateway:v1.31.0");
  expect(cacheImage("7", env)).toBe("mirror.example.com/cache:7");
  for (const store of ["minio", "mongo", "mysql"] as const) {
    expect(storeImage(store, "1", env)).toBe(`mirror.example.com/${store}:1`);
  }
  expect(cacheImage("7", { [repositoryVariables.cache]: "" })).toBe("redis:7");
});

test.each([
  ["v1.10.0", "envoyproxy/envoy-alpine:v1.10.0"],
  ["v1.18.3", "envoyproxy/envoy-alpine:v1.18.3"],
  ["v1.21.6", "envoyproxy/envoy-alpine:v1.21.6"],
  ["v1.22.0", "envoyproxy/envoy:v1.22.0"],
  ["v1.31.0", "envoyproxy/envoy:v1.31.0"],
  ["distroless-v1.31.0", "envoyproxy/envoy:distroless-v1.31.0"],
])("the image of Envoy %s is %s", (version, image) => {
  expect(gatewayImage(version, {})).toBe(image);
});

test.each([
  ["L0", "v1.10.0"],
  ["L0", "v1.16.5"],
  ["C", "v1.18.3"],
  ["C", "v1.31.0"],
  ["C", "v1.31-latest"],
  ["C", "distroless-v1.31.0"],
] as const)("the profile %s supports Envoy %s", (profile, version) => {
  expect(envoyProblem(profile, version)).toBeUndefined();
});

test.each([
  ["L0", "v1.9.1", "PipeCD v0.8.0 to v0.9.0 needs Envoy v1.10.0 or later, before v1.17.0"],
  ["L0", "v1.17.0", "PipeCD v0.8.0 to v0.9.0 needs Envoy v1.10.0 or later, before v1.17.0"],
  ["L0", "v1.31.0", "PipeCD v0.8.0 to v0.9.0 needs Envoy v1.10.0 or later, before v1.17.0"],
  ["C", "v1.10.0", "PipeCD v0.37.1 and later needs Envoy v1.18.0 or later"],
  ["C", "v1.17.4", "PipeCD v0.37.1 and later needs Envoy v1.18.0 or later"],
] as const)("the profile %s does not support Envoy %s", (profile, version, expected) => {
  expect(envoyProblem(profile, version)).toBe(
    `Envoy ${version} cannot read the gateway's configuration: ${expected}`,
  );
});

test("rejects a tag that is not a version of Envoy", () => {
  expect(envoyProblem("C", "latest")).toBe(
    'the envoyVersion "latest" is not a version of Envoy: PipeCD v0.37.1 and later needs Envoy v1.18.0 or later, written like v1.31.0',
  );
  expect(gatewayImage("latest", {})).toBe("envoyproxy/envoy:latest");
});

test("each profile supports its default version of Envoy", () => {
  expect(envoyProblem("L0", defaultVersions.envoy.L0)).toBeUndefined();
  expect(envoyProblem("C", defaultVersions.envoy.C)).toBeUndefined();
});

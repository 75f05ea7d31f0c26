import { describe, expect, test } from "vitest";
import type { Stored } from "../../../bus/kube/object.ts";
import type { Context } from "../../../bus/worker/function.ts";
import { type Mount, mountedDigest, mountedIndex, volumeMountsOf, volumesOf } from "./volumes.ts";

const mount = (source: object, name = "v"): Mount => ({ volume: { name, ...source }, mountPath: `/${name}` });
const object: Stored = {
  apiVersion: "v1",
  kind: "K",
  metadata: { name: "o", namespace: "ns", uid: "u", resourceVersion: "1" },
  spec: {},
};

const projected = {
  projected: {
    sources: [
      { secret: { name: "s2" } },
      { configMap: { name: "c2" } },
      { serviceAccountToken: { path: "token" } },
      { secret: { name: "s3", optional: true } },
    ],
  },
};

describe("an object is indexed by the Secrets and ConfigMaps of its volumes:", () => {
  const indexed = (mounts: readonly Mount[], more?: readonly string[]) => {
    const { secret, configMap } = mountedIndex(() => mounts, more && (() => more));
    return { secrets: secret(object).toSorted(), configMaps: configMap(object).toSorted() };
  };

  test.each<readonly [string, readonly Mount[], readonly string[], readonly string[]]>([
    ["none", [], [], []],
    ["a Secret", [mount({ secret: { secretName: "s" } })], ["ns/s"], []],
    ["an optional Secret", [mount({ secret: { secretName: "s", optional: true } })], ["ns/s"], []],
    ["a ConfigMap", [mount({ configMap: { name: "c" } })], [], ["ns/c"]],
    ["an optional ConfigMap", [mount({ configMap: { name: "c", optional: true } })], [], ["ns/c"]],
    ["a projected volume", [mount(projected)], ["ns/s2", "ns/s3"], ["ns/c2"]],
    ["an empty projected volume", [mount({ projected: {} })], [], []],
    ["other volumes", [mount({ emptyDir: {} }), mount({ hostPath: { path: "/s" } })], [], []],
    [
      "the same twice",
      [mount({ secret: { secretName: "s" } }), mount({ secret: { secretName: "s", optional: true } }, "w")],
      ["ns/s"],
      [],
    ],
  ])("%s", (_, mounts, secrets, configMaps) => {
    expect(indexed(mounts)).toEqual({ secrets, configMaps });
  });

  test("and by Secrets that other fields refer to", () => {
    expect(indexed([mount({ secret: { secretName: "s" } })], ["pipecd"]).secrets).toEqual([
      "ns/pipecd",
      "ns/s",
    ]);
  });
});

describe("the digest of volumes", () => {
  type Contents = Readonly<Record<string, Readonly<Record<string, string>>>>;
  const digestOf = (mounts: readonly Mount[], contents: Contents) => {
    const get = async ({ kind }: { kind: string }, name: string) => {
      const data = contents[`${kind} ${name}`];
      return data && { metadata: { name }, data };
    };
    return mountedDigest(mounts, {
      key: { namespace: "ns", name: "o" },
      live: { get },
    } as unknown as Context);
  };
  const all = [
    mount({ secret: { secretName: "s" } }),
    mount({ configMap: { name: "c" } }, "w"),
    mount(projected, "x"),
  ];
  const contents: Contents = {
    "Secret s": { a: "YQ==" },
    "Secret s2": { a: "Yg==" },
    "Secret s3": { a: "Yw==" },
    "ConfigMap c": { a: "d" },
    "ConfigMap c2": { a: "e" },
  };

  test.each(Object.keys(contents))("changes with the content of %s", async (name) => {
    const before = await digestOf(all, contents);
    expect(await digestOf(all, { ...contents, [name]: { a: "other" } })).not.toBe(before);
    expect(await digestOf(all, { ...contents, [name]: { ...contents[name], b: "" } })).not.toBe(before);
  });

  test("does not depend on the order of volumes or on other objects", async () => {
    const before = await digestOf(all, contents);
    expect(await digestOf(all, contents)).toBe(before);
    expect(await digestOf(all.toReversed(), contents)).toBe(before);
    expect(await digestOf(all, { ...contents, "Secret other": { a: "" } })).toBe(before);
  });

  test.each(["Secret s", "Secret s2"])("throws without the %s, because no pod would start", async (name) => {
    const { [name]: _, ...rest } = contents;
    await expect(digestOf(all, rest)).rejects.toMatchObject({
      name: "BlockedError",
      reason: "SecretNotFound",
    });
  });

  test.each(["Secret s3", "ConfigMap c"])("changes when the %s is missing", async (name) => {
    const { [name]: _, ...rest } = contents;
    expect(await digestOf(all, rest)).not.toBe(await digestOf(all, contents));
  });

  test("throws without a Secret that is optional in only one of two volumes", async () => {
    const both = [
      mount({ secret: { secretName: "s", optional: true } }),
      mount({ secret: { secretName: "s" } }, "w"),
    ];
    for (const mounts of [both, both.toReversed()])
      await expect(digestOf(mounts, {})).rejects.toMatchObject({ reason: "SecretNotFound" });
  });
});

test("renders the volumes of a pod and the mounts of its container", () => {
  const volume = { name: "v", emptyDir: {} };
  const mounts: readonly Mount[] = [
    { volume, mountPath: "/a", readOnly: true, subPath: "s", subPathExpr: "e" },
    { volume: { name: "w" }, mountPath: "/b", readOnly: false },
  ];
  expect(volumesOf(mounts)).toEqual({ volumes: [volume, { name: "w" }] });
  expect(volumeMountsOf(mounts)).toEqual({
    volumeMounts: [
      { name: "v", mountPath: "/a", readOnly: true, subPath: "s", subPathExpr: "e" },
      { name: "w", mountPath: "/b" },
    ],
  });
  expect([volumesOf([]), volumeMountsOf([])]).toEqual([{}, {}]);
});

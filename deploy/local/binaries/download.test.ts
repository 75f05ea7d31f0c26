import { describe, expect, test } from "vitest";
import { findSha256 } from "./download.ts";

const a = "a".repeat(64);
const b = "b".repeat(64);

describe("findSha256", () => {
  test("accepts a digest alone, as dl.k8s.io publishes it", () => {
    expect(findSha256(a, "kube-apiserver")).toBe(a);
    expect(findSha256(`${a.toUpperCase()}\n`, "kube-apiserver")).toBe(a);
  });

  test("selects the file's line in sha256sum output", () => {
    const sums = `${a}  etcd-linux-amd64.tar.gz\n${b} *./etcd-linux-arm64.tar.gz\n`;
    expect(findSha256(sums, "etcd-linux-amd64.tar.gz")).toBe(a);
    expect(findSha256(sums, "etcd-linux-arm64.tar.gz")).toBe(b);
    expect(findSha256(sums, "amd64.tar.gz")).toBeUndefined();
  });

  test("selects the asset's digest in a GitHub release", () => {
    const release = JSON.stringify({
      assets: [
        { name: "kwok-linux-arm64", digest: `sha256:${b}` },
        { name: "kwok-linux-amd64", digest: `sha256:${a}` },
        { name: "old", digest: null },
      ],
    });
    expect(findSha256(release, "kwok-linux-amd64")).toBe(a);
    expect(findSha256(release, "old")).toBeUndefined();
    expect(findSha256(release, "kwok")).toBeUndefined();
  });

  test("finds nothing in a page other than a checksum document", () => {
    expect(findSha256("<html>sign in</html>", "etcd")).toBeUndefined();
    expect(findSha256(`${a}${a}`, "etcd")).toBeUndefined();
  });
});

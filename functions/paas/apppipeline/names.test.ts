import fc from "fast-check";
import { expect, test } from "vitest";
import { previewHost, previewName } from "./names.ts";

const label = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const objectName = fc.stringMatching(/^[a-z0-9]([-.a-z0-9]{0,61}[a-z0-9])?$/);
const number = fc.integer({ min: 1, max: 2_000_000_000 });

test("names a preview after its pipeline and its pull request", () => {
  expect(previewName("web", 7)).toBe("modoki-pipeline-web-pr-7");
});

test("keeps the number and adds a digest when the pipeline's name is cut", () => {
  const name = previewName("a".repeat(63), 1234);
  expect(name).toMatch(/^modoki-pipeline-a+-[0-9a-f]{8}-pr-1234$/);
  expect(name).toHaveLength(63);
});

test("builds a host from pull request, pipeline, and a digest of the namespace, without the domain's star", () => {
  const at = { namespace: "team-a", name: "web" };
  expect(previewHost(at, 7, "*.preview.example.com", "unique")).toMatch(
    /^pr-7-web-[0-9a-f]{6}\.preview\.example\.com$/,
  );
  expect(previewHost(at, 7, "preview.example.com", "unique")).toBe(
    previewHost(at, 7, "*.preview.example.com", "unique"),
  );
});

test("builds valid label values and hosts from any pipeline name", () => {
  fc.assert(
    fc.property(objectName, objectName, number, (name, namespace, pull) => {
      const preview = previewName(name, pull);
      expect(preview.length).toBeLessThanOrEqual(63);
      expect(preview).toMatch(/^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$/);
      expect(preview.endsWith(`-pr-${pull}`)).toBe(true);
      const [first = "", ...rest] = previewHost({ namespace, name }, pull, "*.example.com", "unique").split(
        ".",
      );
      expect(first).toMatch(label);
      expect(rest).toEqual(["example", "com"]);
    }),
  );
});

test("distinguishes pipelines and numbers by name, and namespaces by host", () => {
  fc.assert(
    fc.property(objectName, objectName, number, number, (a, b, one, other) => {
      fc.pre(a !== b || one !== other);
      expect(previewName(a, one)).not.toBe(previewName(b, other));
    }),
  );
  // A pair that once got the same host.
  const hosts = [
    { namespace: "a-b", name: "c" },
    { namespace: "a", name: "b-c" },
  ].map((at) => previewHost(at, 1, "example.com", "unique"));
  expect(new Set(hosts).size).toBe(2);
  const long = "p".repeat(62);
  expect(previewHost({ namespace: "n", name: `${long}a` }, 1, "example.com", "unique")).not.toBe(
    previewHost({ namespace: "n", name: `${long}b` }, 1, "example.com", "unique"),
  );
});

test("builds hosts of modoki-operator's pattern unless a label is too long", () => {
  const host = (namespace: string, name: string) =>
    previewHost({ namespace, name }, 7, "*.preview.example.com", "modoki-operator");
  expect(host("team-a", "web")).toBe("team-a-web-pr-7.preview.example.com");
  expect(host("n".repeat(50), "w".repeat(7))).toHaveLength(63 + ".preview.example.com".length);
  expect(host("n".repeat(50), "w".repeat(8))).toMatch(/^pr-7-w+-[0-9a-f]{6}\.preview\.example\.com$/);
});

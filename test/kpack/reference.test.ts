import { expect, test } from "vitest";
import { parseTag, repositoryOf } from "../../deploy/simulators/kpack/reference.ts";

const long = "a".repeat(256);

test.each([
  ["web", "index.docker.io", "library/web", "latest"],
  ["acme/web:1.2_3-x", "index.docker.io", "acme/web", "1.2_3-x"],
  ["ghcr.io/acme/web", "ghcr.io", "acme/web", "latest"],
  ["127.0.0.1:5000/web:abc", "127.0.0.1:5000", "web", "abc"],
  ["registry:5000/acme/team/web", "registry:5000", "acme/team/web", "latest"],
  ["localhost/web", "index.docker.io", "localhost/web", "latest"],
])("%s is taken apart", (text, registry, repository, tag) => {
  expect(parseTag(text)).toEqual({ registry, repository, tag });
  expect(repositoryOf(text)).toBe(`${registry}/${repository}`);
});

test.each([
  "",
  "UPPER",
  "ghcr.io/acme/web:",
  "ghcr.io/acme/web:a/b c",
  "ghcr.io/a web",
  `ghcr.io/${long}`,
  "web@sha256:00",
  "a",
])("%j is no tag", (text) => {
  expect(parseTag(text)).toBeUndefined();
  expect(() => repositoryOf(text)).toThrow(`invalid image tag "${text}"`);
});

import { expect, test } from "vitest";
import { imageReference, imageRepository, optionalImageReference } from "./imagereference.ts";

const digest = `sha256:${"0a".repeat(32)}`;
const repositories = [
  "nginx",
  "library/nginx",
  "registry.example.com/team/web",
  "localhost:5000/web",
  "Registry.Example.com/web",
  "[2001:db8::1]:5000/web",
  "a/b__c/d.e/f--g",
];

test.each(repositories)("accepts %s, with a tag and a digest", (name) => {
  for (const end of ["", ":1.0", ":Latest_1", `@${digest}`, `:v1@${digest}`]) {
    expect(imageReference.safeParse(name + end).success, name + end).toBe(true);
    expect(optionalImageReference.safeParse(name + end).success, name + end).toBe(true);
  }
  expect(imageRepository.safeParse(name).success).toBe(true);
  expect(imageRepository.safeParse(`${name}:1.0`).success, "with a tag").toBe(false);
});

test.each([
  "UPPER/Case:tag",
  "nginx:bad tag",
  " nginx",
  "nginx ",
  "nginx\n",
  "https://registry.example.com/web",
  "nginx:",
  "nginx:-a",
  `nginx:${"a".repeat(129)}`,
  "nginx@sha256:abc",
  "team//web",
  "-web",
  "web_",
  "web..site",
  "{{image}}",
  "ngïnx",
])("refuses %j", (name) => {
  expect(imageReference.safeParse(name).error?.issues[0]?.message).toMatch(/^Enter an image such as/);
  expect(imageRepository.safeParse(name).error?.issues[0]?.message).toMatch(/^Enter a repository/);
  expect(optionalImageReference.safeParse(name).success).toBe(false);
});

test("only a field that may be empty accepts no image", () => {
  expect(optionalImageReference.safeParse("").success).toBe(true);
  expect(imageReference.safeParse("").success).toBe(false);
});

test("decides quickly on long text", () => {
  const begun = performance.now();
  for (const part of ["a", "a-", "-", "a.", "a/"])
    expect(imageReference.safeParse(`${part.repeat(1023 / part.length)}!`).success).toBe(false);
  expect(performance.now() - begun).toBeLessThan(1000);
});

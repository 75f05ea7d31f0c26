import { expect, test } from "vitest";
import type { Candidate } from "./select.ts";
import { filledTemplate } from "./variables.ts";

const sha = "0123456789abcdef0123456789abcdef01234567";
const candidate: Candidate = {
  number: 7,
  headSHA: sha,
  headRef: "new-login",
  since: "2026-01-02T03:04:05Z",
};
const arg = (text: string, more: Partial<Candidate> = {}) =>
  filledTemplate({ spec: { args: [text] } }, { ...candidate, ...more }, "pr-7.example.com").spec?.args?.[0];

test.each([
  ["{{number}}", "7"],
  ["db_{{ number }}_{{slug}}", "db_7_new-login"],
  ["{{sha}}", sha],
  ["{{short_sha}}", "0123456"],
  ["https://{{host}}/", "https://pr-7.example.com/"],
])("replaces %s by %s", (text, expected) => {
  expect(arg(text)).toBe(expected);
});

test("leaves other braces alone", () => {
  for (const text of ["{{ .Values.x }}", "{{unknown}}", "{{constructor}}", "{number}", "$(NUMBER)"])
    expect(arg(text)).toBe(text);
});

test("uses the shown commit of a fork", () => {
  expect(arg("{{sha}}", { approvedSHA: "approved" })).toBe("approved");
});

test("replaces placeholders only in arguments, attributes, annotations, and values of variables", () => {
  const text = "{{number}}";
  const template = {
    metadata: { labels: { a: text }, annotations: { b: text } },
    spec: {
      command: [text],
      args: [text],
      attributes: { c: text },
      env: [
        { name: "D", value: text },
        { name: "E", valueFrom: { configMapKeyRef: { name: "e", key: text } } },
      ],
    },
  };
  expect(filledTemplate(template, candidate, "host")).toEqual({
    metadata: { labels: { a: text }, annotations: { b: "7" } },
    spec: {
      ...template.spec,
      args: ["7"],
      attributes: { c: "7" },
      env: [{ name: "D", value: "7" }, template.spec.env[1]],
    },
  });
  expect(filledTemplate({}, candidate, "host")).toEqual({});
});

test("uses the recorded slug of a preview", () => {
  expect(arg("{{slug}}", { slug: "kept" })).toBe("kept");
});

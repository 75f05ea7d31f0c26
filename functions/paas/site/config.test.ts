import { expect, test } from "vitest";
import { parseConfig, SiteConfigError } from "./config.ts";

test("without anything there are the defaults", () => {
  const config = parseConfig("");
  expect(config).toMatchObject({
    site: { scheme: "https", podSecurity: "baseline", progressDeadlineSeconds: 300 },
    builder: { kind: "ClusterBuilder", name: "default" },
    github: { url: "https://github.com" },
  });
  expect(parseConfig("# nothing yet\n")).toEqual(config);
  expect(parseConfig("site:\nbuilder:\n  # kind: Builder\ngithub:\n")).toEqual(config);
  expect(parseConfig("github: {}")).toEqual(config);
});

test("what one section says changes no other one", () => {
  const config = parseConfig("github: { url: https://github.example.com }");
  expect(config).toEqual({ ...parseConfig(""), github: { url: "https://github.example.com", allowed: [] } });
  expect(parseConfig("builder: { kind: Builder, name: own }")).toMatchObject({
    builder: { kind: "Builder", name: "own" },
    github: { url: "https://github.com" },
  });
});

test("charts of the site's own get settings that nobody else knows", () => {
  expect(parseConfig("site: { team: { name: a } }").site).toMatchObject({ team: { name: "a" } });
});

test("hosts are written in one form, however the settings have them", () => {
  const { hosts } = parseConfig(
    "hosts: { reserved: [Hooks.example.com., '*.Internal.example.com'], allowed: { team-a: ['*', bücher.example.com] } }",
  );
  expect(hosts).toEqual({
    reserved: ["hooks.example.com", "*.internal.example.com"],
    allowed: { "team-a": ["*", "xn--bcher-kva.example.com"] },
  });
  expect(parseConfig("").hosts).toEqual({ reserved: [], allowed: {} });
});

test.each([
  [
    "a host that is an address",
    "hosts: { reserved: ['https://a.example.com'] }",
    /hosts\.reserved\.0: .*name of a host/,
  ],
  [
    "a host of stars",
    "hosts: { allowed: { a: ['a.*.example.com'] } }",
    /hosts\.allowed\.a\.0: .*name of a host/,
  ],
  ["a section that there is not", "bilder: { name: own }", /Unrecognized key: "bilder"/],
  ["a misspelt setting", "github: { urll: https://a.example.com }", /github: Unrecognized key: "urll"/],
  ["a value of another type", "site: { progressDeadlineSeconds: soon }", /site\.progressDeadlineSeconds: /],
  ["half a Gateway", "site: { gateway: { name: public } }", /site\.gateway\.namespace: /],
  ["an address that is none", "github: { url: github.com }", /github\.url: /],
  ["another protocol", "github: { url: 'ssh://git@github.com' }", /github\.url: /],
  [
    "a quantity that is none",
    "site: { defaultResources: { limits: { memory: lots } } }",
    /limits\.memory: .*512Mi/,
  ],
  ["a list", "- site", /the document: .*expected object/],
  ["text", "site", /the document: .*expected object/],
  ["no YAML", "site: {", /^expected YAML, found [^\n]*$/],
  ["a key twice", "site: {}\nsite: {}", /^expected YAML, found [^\n]*unique/],
])("%s is refused, and the message says where it is", (_, text, message) => {
  expect(() => parseConfig(text)).toThrow(SiteConfigError);
  expect(() => parseConfig(text)).toThrow(message);
});

test("all that is wrong is said at once", () => {
  expect(() => parseConfig("site: { scheme: ftp }\nbuilder: { kind: Pack, name: x }")).toThrow(
    /site\.scheme: .*; builder\.kind: /,
  );
});

import { expect, test } from "vitest";
import { externalKind } from "../../../bus/kube/kind.ts";
import { parseConfig, SiteConfigError } from "./config.ts";
import { listingOf, siteKinds } from "./kinds.ts";

test("returns defaults for an empty document", () => {
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

test("keeps the defaults of other sections", () => {
  const config = parseConfig("github: { url: https://github.example.com }");
  expect(config).toEqual({ ...parseConfig(""), github: { url: "https://github.example.com", allowed: [] } });
  expect(parseConfig("builder: { kind: Builder, name: own }")).toMatchObject({
    builder: { kind: "Builder", name: "own" },
    github: { url: "https://github.com" },
  });
});

test("keeps unknown settings for the site's own chart", () => {
  expect(parseConfig("site: { team: { name: a } }").site).toMatchObject({ team: { name: "a" } });
});

test("normalizes hosts", () => {
  const { hosts } = parseConfig(
    "hosts: { reserved: [Hooks.example.com., '*.Internal.example.com'], allowed: { team-a: ['*', bücher.example.com] } }",
  );
  expect(hosts).toEqual({
    reserved: ["hooks.example.com", "*.internal.example.com"],
    allowed: { "team-a": ["*", "xn--bcher-kva.example.com"] },
  });
  expect(parseConfig("").hosts).toEqual({ reserved: [], allowed: {} });
});

const entry = "{ group: batch, version: v1, kind: CronJob, plural: cronjobs }";

test("treats listed kinds as namespaced, and omits built-in ones", () => {
  const anyway = "{ group: apps, version: v1, kind: Deployment, plural: deployments }";
  const { kinds } = parseConfig(`kinds:\n  - ${entry}\n  - ${anyway}\n`);
  expect(kinds).toEqual([
    externalKind({ group: "batch", version: "v1", kind: "CronJob", plural: "cronjobs" }),
  ]);
  expect(parseConfig("kinds:\n  # none yet\n").kinds).toEqual([]);
});

test("lets the bridge read the list despite other invalid settings, but not an invalid list", () => {
  const read = (text: string) => siteKinds.kindsIn({ "config.yaml": text });
  expect(read(`site: { scheme: gopher }\nkinds: [${entry}]`).map(({ kind }) => kind)).toEqual(["CronJob"]);
  expect(read("site: {}")).toEqual([]);
  expect(siteKinds.kindsIn({})).toEqual([]);
  expect(() => read(`kinds: [${entry}, ${entry}]`)).toThrow("CronJob.batch is listed twice");
});

test("accepts the line that lists a kind", () => {
  const claim = externalKind({
    group: "",
    version: "v1",
    kind: "PersistentVolumeClaim",
    plural: "persistentvolumeclaims",
  });
  expect(parseConfig(`kinds:\n  ${listingOf(claim)}\n`).kinds).toEqual([claim]);
});

const kindOf = (group: string, kind: string): string =>
  `kinds: [{ group: "${group}", version: v1, kind: ${kind}, plural: ${kind.toLowerCase()}s }]`;

test.each([
  ["rbac.authorization.k8s.io", "Role"],
  ["rbac.authorization.k8s.io", "RoleBinding"],
  ["admissionregistration.k8s.io", "MutatingWebhookConfiguration"],
  ["modoki.tsuzu.dev", "Application"],
  ["ghapp.tsuzu.dev", "Installation"],
  ["kpack.io", "Image"],
  ["", "Secret"],
  ["", "ServiceAccount"],
  ["discovery.k8s.io", "EndpointSlice"],
])("refuses to list %s %s", (group, kind) => {
  expect(() => parseConfig(kindOf(group, kind))).toThrow(
    new RegExp(`kinds\\.0: charts may not make ${kind}`),
  );
});

test.each([
  [
    "a cluster-scoped kind",
    "kinds: [{ group: a.b, version: v1, kind: C, plural: cs, scope: Cluster }]",
    /kinds\.0\.scope: expected Namespaced: /,
  ],
  ["a kind without its plural", "kinds: [{ group: batch, version: v1, kind: Job }]", /kinds\.0\.plural: /],
  [
    "another version of a kind that charts may make",
    kindOf("autoscaling", "HorizontalPodAutoscaler"),
    /kinds\.0: .* in version v2: remove it/,
  ],
  [
    "a URL as a host",
    "hosts: { reserved: ['https://a.example.com'] }",
    /hosts\.reserved\.0: .*expected a host/,
  ],
  [
    "a host with several stars",
    "hosts: { allowed: { a: ['a.*.example.com'] } }",
    /hosts\.allowed\.a\.0: .*expected a host/,
  ],
  ["an unknown section", "bilder: { name: own }", /Unrecognized key: "bilder"/],
  ["a misspelled setting", "github: { urll: https://a.example.com }", /github: Unrecognized key: "urll"/],
  ["a value of another type", "site: { progressDeadlineSeconds: soon }", /site\.progressDeadlineSeconds: /],
  ["half a Gateway", "site: { gateway: { name: public } }", /site\.gateway\.namespace: /],
  ["an invalid address", "github: { url: github.com }", /github\.url: /],
  ["another protocol", "github: { url: 'ssh://git@github.com' }", /github\.url: /],
  [
    "an invalid quantity",
    "site: { defaultResources: { limits: { memory: lots } } }",
    /limits\.memory: .*512Mi/,
  ],
  ["a list", "- site", /the document: .*expected object/],
  ["text", "site", /the document: .*expected object/],
  ["invalid YAML", "site: {", /^not valid YAML: [^\n]*$/],
  ["a duplicate key", "site: {}\nsite: {}", /^not valid YAML: [^\n]*unique/],
])("%s is refused with its location", (_, text, message) => {
  expect(() => parseConfig(text)).toThrow(SiteConfigError);
  expect(() => parseConfig(text)).toThrow(message);
});

test("reports all problems at once", () => {
  expect(() => parseConfig("site: { scheme: ftp }\nbuilder: { kind: Pack, name: x }")).toThrow(
    /site\.scheme: .*; builder\.kind: /,
  );
});

/** Which requests the dashboard forwards, and that it forwards no others. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { functions } from "../../../functions/index.ts";
import { kpack } from "../../../functions/paas/names.ts";
import { checkRequest, parseTarget, projectKinds, type Rule, rebuild, restart, rules } from "./allowlist.ts";

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE", "get", ""];
const name = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,20}[a-z0-9])?$/);

const rootOf = ({ group, version }: Rule) => (group === "" ? `/api/${version}` : `/apis/${group}/${version}`);

/** Path of an object of the rule, or of the list without a name. */
function pathOf(rule: Rule, namespace: string, object?: string): string {
  const [plural, subresource] = rule.resource.split("/");
  const inside = rule.scope === "Namespaced" ? ["namespaces", namespace] : [];
  const parts = [rootOf(rule), ...inside, plural, object, object && subresource];
  return parts.filter((part) => part !== undefined).join("/");
}

const methodOf = { get: "GET", list: "GET", create: "POST", patch: "PATCH", delete: "DELETE" } as const;
type Asked = keyof typeof methodOf;

/** Each rule with each of its verbs; a watch has its own route. */
const allowed = rules.flatMap((rule) =>
  rule.verbs.filter((verb): verb is Asked => verb !== "watch").map((verb) => ({ rule, verb })),
);

/** Path segments that try to pass for another path. */
const hostile = fc.oneof(
  fc.constantFrom(
    "..",
    ".",
    "",
    "%2e%2e",
    "%2E%2e",
    "..;",
    ";a=b",
    "%2f",
    "%5c",
    "\\",
    "%00",
    "\0",
    "%",
    "%zz",
  ),
  fc.constantFrom(
    "SECRETS",
    "Secrets",
    "sécrets",
    "secrets\u200b",
    "ｓｅｃｒｅｔｓ",
    " secrets",
    "secrets ",
    "secrets?",
  ),
  fc.constantFrom(
    "secrets",
    "serviceaccounts",
    "token",
    "proxy",
    "exec",
    "status",
    "namespaces",
    "#",
    "?watch=1",
  ),
  fc.string({ unit: "binary" }),
  fc.constantFrom("api", "apis", "v1", "apps", "pods", "log", "a".repeat(254), "a".repeat(100_000)),
);

const anyPath = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.array(hostile).map((parts) => `/${parts.join("/")}`),
  // An allowed path with something inserted.
  fc
    .tuple(fc.constantFrom(...allowed), name, name, hostile, fc.nat())
    .map(([{ rule }, namespace, object, put, at]) => {
      const path = pathOf(rule, namespace, object);
      const where = at % (path.length + 1);
      return `${path.slice(0, where)}${put}${path.slice(where)}`;
    }),
);

describe("a forwarded request", () => {
  test("matches a rule, and has exactly the path of the rule's resource", () => {
    fc.assert(
      fc.property(fc.constantFrom(...methods), anyPath, (method, path) => {
        const judged = checkRequest(method, path);
        if ("status" in judged) return;
        const { rule, target, verb } = judged;
        expect(rules).toContain(rule);
        expect(rule.verbs).toContain(verb);
        expect(methodOf[verb as Asked]).toBe(method);
        const everywhere = rule.scope === "Namespaced" && target.namespace === undefined;
        expect(path).toBe(
          everywhere ? `${rootOf(rule)}/${rule.resource}` : pathOf(rule, target.namespace ?? "", target.name),
        );
        expect(path).toMatch(/^[-a-z0-9./]+$/);
        expect(path).not.toMatch(/\/\/|\/\.|\/$/);
      }),
      { numRuns: 20_000 },
    );
  });

  test.each(allowed.map((one) => [one.verb, `${one.rule.resource}.${one.rule.group}`, one] as const))(
    "%s %s is allowed, but not in the other scope",
    (verb, _, { rule }) => {
      fc.assert(
        fc.property(name, name, (namespace, object) => {
          const isMany = verb === "list" || verb === "create";
          const judged = checkRequest(methodOf[verb], pathOf(rule, namespace, isMany ? undefined : object));
          expect(judged).toMatchObject({
            rule,
            verb,
            target: {
              namespace: rule.scope === "Namespaced" ? namespace : undefined,
              name: isMany ? undefined : object,
            },
          });
          // With a namespace for a cluster-scoped resource, or without one for a namespaced resource.
          const elsewhere: Rule = { ...rule, scope: rule.scope === "Cluster" ? "Namespaced" : "Cluster" };
          const there = checkRequest(
            methodOf[verb],
            pathOf(elsewhere, namespace, isMany ? undefined : object),
          );
          if (verb === "list" && rule.scope === "Namespaced") expect(there).toMatchObject({ rule, verb });
          else expect(there).toMatchObject({ status: expect.any(Number) });
        }),
        { numRuns: 20 },
      );
    },
  );

  test.each([
    ["DELETE", "/apis/modoki.tsuzu.dev/v1alpha1/namespaces/a/applications", 405],
    ["PATCH", "/apis/modoki.tsuzu.dev/v1alpha1/namespaces/a/applications/b/status", 403],
    ["PUT", "/apis/modoki.tsuzu.dev/v1alpha1/namespaces/a/applications/b", 405],
    ["DELETE", "/apis/kpack.io/v1alpha2/namespaces/a/builds/b", 405],
    ["POST", "/apis/kpack.io/v1alpha2/namespaces/a/builds", 405],
    ["PATCH", "/apis/kpack.io/v1alpha2/namespaces/a/builds/b/status", 403],
    ["PATCH", "/apis/kpack.io/v1alpha2/namespaces/a/images/b", 405],
    ["DELETE", "/api/v1/namespaces/a", 405],
    ["DELETE", "/api/v1/namespaces/a/pods/b", 405],
    ["PATCH", "/apis/apps/v1/namespaces/a/statefulsets/b", 405],
    ["GET", "/api/v1/namespaces/a/secrets", 403],
    ["GET", "/api/v1/namespaces/a/secrets/b", 403],
    ["GET", "/api/v1/secrets", 403],
    ["POST", "/api/v1/namespaces/a/serviceaccounts/b/token", 403],
    ["GET", "/api/v1/namespaces/a/pods/b/exec", 403],
    ["GET", "/api/v1/namespaces/a/pods/b/proxy", 403],
    ["GET", "/api/v1/namespaces/a/services/b/proxy", 403],
    ["POST", "/api/v1/namespaces/a/pods/b/eviction", 403],
    ["GET", "/api/v1/namespaces/a/configmaps", 403],
    ["GET", "/api/v1/nodes/a", 403],
    ["GET", "/api/v1/watch/namespaces/a/pods", 400],
    ["POST", "/apis/authentication.k8s.io/v1/tokenreviews", 403],
    ["POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", 403],
    ["GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles", 403],
    ["GET", "/apis/modoki.tsuzu.dev/v1/namespaces/a/applications", 403],
    ["GET", "/apis/ghapp.tsuzu.dev/v1alpha1/namespaces/a/clustergithubapps/b", 400],
    ["GET", "/apis/modoki.tsuzu.dev/v1alpha1/applications/b", 400],
    ["GET", "/api/v1/pods/b/log", 400],
    ["GET", "/api/v1/namespaces/a/pods/../secrets", 400],
    ["GET", "/api/v1/namespaces/a/pods/b/", 400],
    ["GET", "/version", 400],
    ["GET", "", 400],
    ["GET", `/api/v1/namespaces/${"a".repeat(254)}`, 400],
  ])("%s %s is rejected", (method, path, status) => {
    expect(checkRequest(method, path)).toMatchObject({ status });
  });
});

describe("the rules", () => {
  test("cover every kind that the project's functions define, each once", () => {
    const defined = functions
      .flatMap((fn) => [fn.for, ...(fn.owns ?? []), ...(fn.watches ?? []).map(({ kind }) => kind)])
      .filter(({ definition }) => definition !== undefined);
    const text = ({ group, plural }: { group: string; plural: string }) => `${plural}.${group}`;
    expect(new Set(projectKinds.map(text))).toEqual(new Set(defined.map(text)));
    const places = rules.map(({ group, version, resource }) => `${group}/${version}/${resource}`);
    expect(new Set(places).size).toBe(places.length);
  });

  test("allow no secrets, no impersonation, and no access into a pod", () => {
    for (const { group, resource } of rules) {
      expect(resource).not.toMatch(
        /secret|token|exec|attach|proxy|portforward|status|binding|finalize|eviction/,
      );
      expect(group).not.toMatch(/rbac|auth|admission|certificates/);
    }
  });

  test("parse the path of a namespace and of a resource in it differently", () => {
    expect(parseTarget("/api/v1/namespaces/a")).toMatchObject({ resource: "namespaces", name: "a" });
    expect(parseTarget("/api/v1/namespaces/a/pods")).toMatchObject({ resource: "pods", namespace: "a" });
  });
});

test("a Deployment can be restarted, but not changed otherwise", () => {
  const at = (annotations: object, more: object = {}) => ({
    spec: { template: { metadata: { annotations, ...more } } },
  });
  const time = { "kubectl.kubernetes.io/restartedAt": "2026-01-01T00:00:00Z" };
  expect(restart.safeParse(at(time)).success).toBe(true);
  for (const other of [
    at({ ...time, more: "" }),
    at({ "kubectl.kubernetes.io/restartedAt": "now" }),
    at(time, { labels: {} }),
    { ...at(time), metadata: {} },
    [{ op: "replace", path: "/spec/template/spec/containers/0/image", value: "evil" }],
    {},
    null,
  ])
    expect(restart.safeParse(other).success).toBe(false);
});

test("a Build can be rebuilt, but not changed otherwise", () => {
  const time = fc.date({ noInvalidDate: true, min: new Date(0), max: new Date("9999-12-31") });
  const texts = time.map((date) => date.toISOString());
  const more = fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 2 });
  fc.assert(
    fc.property(fc.oneof(texts, fc.jsonValue()), more, more, more, (value, annotations, metadata, beside) => {
      const others = [annotations, metadata, beside];
      const desired = { metadata: { annotations: { [kpack.rebuild]: value } } };
      // Through JSON, which can contain a key that no literal can.
      const body = JSON.parse(
        JSON.stringify({
          ...beside,
          metadata: { ...metadata, annotations: { ...annotations, ...desired.metadata.annotations } },
        }),
      );
      const taken = rebuild.safeParse(body);
      if (taken.success) expect(taken.data).toEqual(desired);
      const isBare = others.every((one) => Object.keys(one).length === 0);
      const isTime = typeof value === "string" && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value);
      expect(taken.success).toBe(isBare && isTime);
    }),
    { numRuns: 5000 },
  );
  expect(rebuild.safeParse({ metadata: { annotations: {} } }).success).toBe(false);
  expect(rebuild.safeParse([{ op: "add", path: "/metadata/annotations", value: {} }]).success).toBe(false);
});

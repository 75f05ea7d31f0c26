import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  levels,
  type Rule,
  refusalOfAccess,
  rulesFor,
  type TokenAccess,
  type TokenRequest,
} from "./policy.ts";

type Level = (typeof levels)[number];

const request: TokenRequest = {
  namespace: "team-a",
  labels: { team: "a", env: "prod" },
  installationID: 678,
  permissions: { contents: "read" },
};
const web: TokenAccess = { repositories: ["acme/web"] };

/** Why a request whose token has this access is refused; undefined if it is allowed. */
function verdict(rules: readonly Rule[], requested: TokenRequest, access: TokenAccess): string | undefined {
  const left = rulesFor(rules, requested);
  return typeof left === "string" ? left : refusalOfAccess(left, access);
}
const allows = (
  rules: readonly Rule[],
  requested: TokenRequest = request,
  access: TokenAccess = web,
): boolean => verdict(rules, requested, access) === undefined;

test("allows nothing without rules", () => {
  expect(rulesFor([], request)).toMatch(/no rules in spec\.allowed/);
  expect(refusalOfAccess([], web)).not.toBeUndefined();
  expect(refusalOfAccess([], { repositories: [] })).not.toBeUndefined();
});

test("an empty rule allows everything", () => {
  expect(allows([{}])).toBe(true);
  expect(allows([{}], { ...request, labels: {}, permissions: undefined }, { allOf: "acme" })).toBe(true);
});

test.each<[string, Rule, boolean]>([
  ["its namespace", { namespaces: ["team-b", "team-a"] }, true],
  ["its namespace by a glob", { namespaces: ["team-*"] }, true],
  ["another namespace", { namespaces: ["team-b", "team", "eam-a"] }, false],
  ["no namespace", { namespaces: [] }, false],
  ["its labels", { namespaceSelector: { matchLabels: { team: "a" } } }, true],
  ["other labels", { namespaceSelector: { matchLabels: { team: "b" } } }, false],
  ["its installation", { installationIDs: [1, 678] }, true],
  ["another installation", { installationIDs: [67, 6780] }, false],
  ["its repository", { repositories: ["acme/api", "acme/web"] }, true],
  ["another repository", { repositories: ["acme/api", "other/*"] }, false],
  ["its permission", { permissions: { contents: "read" } }, true],
  ["another permission", { permissions: { issues: "admin" } }, false],
  ["no permission", { permissions: {} }, false],
])("evaluates a rule with %s: allowed is %j", (_, rule, allowed) => {
  expect(allows([rule])).toBe(allowed);
  // Regardless of its other fields.
  expect(allows([{ namespaces: ["*"], ...rule, installationIDs: rule.installationIDs ?? [678] }])).toBe(
    allowed,
  );
});

test("fields that a rule omits do not restrict requests", () => {
  const rule: Rule = { namespaces: ["team-a"] };
  fc.assert(
    fc.property(fc.integer({ min: 1 }), fc.dictionary(fc.string(), fc.string()), (installationID, labels) => {
      expect(allows([rule], { ...request, installationID, labels }, { allOf: "anybody" })).toBe(true);
    }),
  );
});

describe("permissions", () => {
  test.each([
    ["read", "read", true],
    ["read", "write", false],
    ["read", "admin", false],
    ["write", "read", true],
    ["write", "write", true],
    ["write", "admin", false],
    ["admin", "read", true],
    ["admin", "write", true],
    ["admin", "admin", true],
    ["admin", "owner", false],
    ["admin", "Read", false],
    ["admin", "", false],
  ] as const)("allow at most %s for %j: %s", (most, level, allowed) => {
    expect(
      allows([{ permissions: { contents: most } }], { ...request, permissions: { contents: level } }),
    ).toBe(allowed);
  });

  test("refuses a permission that the rule does not list, also among listed ones", () => {
    const rules: Rule[] = [{ permissions: { contents: "write" } }];
    const permissions = { contents: "read", issues: "read" };
    expect(rulesFor(rules, { ...request, permissions })).toMatch(/issues: read exceeds none/);
    for (const name of ["constructor", "__proto__", "toString"])
      expect(
        rulesFor(rules, { ...request, permissions: Object.fromEntries([[name, "read"]]) }),
        name,
      ).toMatch(new RegExp(`${name}: read exceeds none`));
  });

  test("requires permissions where a rule limits them, because the token would have all", () => {
    for (const permissions of [undefined, {}]) {
      const requested = { ...request, permissions };
      expect(rulesFor([{ permissions: { contents: "admin" } }], requested)).toMatch(/set spec\.permissions/);
      expect(allows([{}], requested)).toBe(true);
    }
  });
});

test("allows repositories beyond a user or an organization only by rules for all repositories", () => {
  // An enterprise and an organization can have the same name.
  const enterprise: TokenAccess = { beyond: "all of the enterprise acme" };
  for (const repositories of [[], ["acme/*"], ["*/web"], ["acme*/*", "a*/*"]])
    expect(allows([{ repositories }], request, enterprise), repositories.join()).toBe(false);
  expect(verdict([{ repositories: ["acme/*"] }], request, enterprise)).toBe(
    "all of the enterprise acme exceeds acme/*",
  );
  expect(allows([{ repositories: ["acme/*", "*/*"] }], request, enterprise)).toBe(true);
  expect(allows([{}], request, enterprise)).toBe(true);
});

test("requires one rule that allows both the permissions and the repositories", () => {
  const rules: Rule[] = [
    { permissions: { contents: "write" }, repositories: ["acme/docs"] },
    { permissions: { contents: "read" }, repositories: ["acme/*"] },
  ];
  const writing = { ...request, permissions: { contents: "write" } };
  expect(allows(rules, request, web)).toBe(true);
  expect(allows(rules, writing, { repositories: ["acme/docs"] })).toBe(true);
  expect(allows(rules, writing, web)).toBe(false);
  const halves: Rule[] = [{ repositories: ["acme/web"] }, { repositories: ["acme/api"] }];
  expect(allows(halves, request, { repositories: ["acme/web", "acme/api"] })).toBe(false);
});

test.each([
  [["acme/*"], true],
  [["other/*", "ACME/*"], true],
  [["*/*"], true],
  [["a*/*"], true],
  [["acme/**"], true],
  [["acme/web", "acme/api"], false],
  [["acme/w*"], false],
  [["acme/*b"], false],
  [["acme*"], false],
  [["*"], false],
  [["acme/?"], false],
  [["other/*"], false],
  [[], false],
] as [string[], boolean][])("covers all of an account's repositories by %j: %s", (repositories, allowed) => {
  expect(allows([{ repositories }], request, { allOf: "acme" })).toBe(allowed);
});

test("a glob with letters does not cover all repositories of an account", () => {
  for (const letter of "abcdefghijklmnopqrstuvwxyz0123456789-_.")
    for (const name of [letter, `${letter}*`, `*${letter}`, `*${letter}*`])
      expect(allows([{ repositories: [`acme/${name}`] }], request, { allOf: "acme" }), name).toBe(false);
});

test("lists every rule in a refusal, with the reason", () => {
  const rules: Rule[] = [
    { namespaces: ["team-b"] },
    { namespaceSelector: { matchLabels: { team: "b" } } },
    { installationIDs: [1, 2] },
    { permissions: { issues: "read" } },
  ];
  const refusal = rulesFor(rules, request) as string;
  const expected = [
    "the namespace team-a does not match team-b",
    "the labels of the namespace team-a",
    "the installation 678 is not one of 1, 2",
    "the permission contents: read exceeds none",
  ];
  for (const [at, why] of expected.entries()) expect(refusal).toContain(`rule ${at + 1}: ${why}`);
  const access = refusalOfAccess([{ repositories: ["acme/api"] }, { repositories: ["other/*"] }], web);
  expect(access).toMatch(/acme\/web is not among acme\/api.*acme\/web is not among other\/\*/);
});

describe("any rules", () => {
  const level = fc.constantFrom(...levels);
  const some = <T>(...values: T[]) => fc.subarray(values, { minLength: 1 });
  const permissions = fc.dictionary(fc.constantFrom("contents", "issues"), level);
  const rule: fc.Arbitrary<Rule> = fc.record(
    {
      namespaces: some("team-*", "team-a", "*b"),
      namespaceSelector: fc.record(
        {
          matchLabels: fc.dictionary(fc.constantFrom("team", "env"), fc.constantFrom("a", "b")),
          matchExpressions: fc.array(
            fc.record({
              key: fc.constantFrom("team", "env"),
              operator: fc.constantFrom("In", "NotIn", "Exists", "DoesNotExist"),
              values: some("a", "b"),
            }),
            { maxLength: 2 },
          ),
        },
        { requiredKeys: [] },
      ),
      installationIDs: some(1, 2),
      repositories: some("acme/*", "acme/web", "*/web", "other/*"),
      permissions,
    },
    { requiredKeys: [] },
  );
  const requested: fc.Arbitrary<TokenRequest> = fc.record({
    namespace: fc.constantFrom("team-a", "team-b"),
    labels: fc.dictionary(fc.constantFrom("team", "env"), fc.constantFrom("a", "b", "c")),
    installationID: fc.constantFrom(1, 2),
    permissions: fc.option(permissions, { nil: undefined }),
  });
  const access: fc.Arbitrary<TokenAccess> = fc.oneof(
    fc.record({ repositories: some("acme/web", "acme/api", "other/web") }),
    fc.record({ allOf: fc.constantFrom("acme", "other") }),
  );

  /** Changes that make a rule allow more. */
  const widening: fc.Arbitrary<(rule: Rule) => Rule> = fc.oneof(
    fc
      .constantFrom<keyof Rule>(
        "namespaces",
        "namespaceSelector",
        "installationIDs",
        "repositories",
        "permissions",
      )
      .map((field) => (narrow: Rule) => ({ ...narrow, [field]: undefined })),
    fc
      .constantFrom<[keyof Rule, unknown]>(
        ["namespaces", "team-b"],
        ["namespaces", "*"],
        ["installationIDs", 2],
        ["repositories", "acme/api"],
        ["repositories", "*/*"],
      )
      .map(([field, more]) => (narrow: Rule) => {
        const list = narrow[field] as readonly unknown[] | undefined;
        return { ...narrow, [field]: list && [...list, more] };
      }),
    fc.tuple(fc.constantFrom("contents", "issues"), level).map(([name, most]) => (narrow: Rule) => {
      const before = narrow.permissions;
      const rank = (value: Level | undefined) => (value === undefined ? -1 : levels.indexOf(value));
      if (before === undefined || rank(before[name]) > rank(most)) return narrow;
      return { ...narrow, permissions: { ...before, [name]: most } };
    }),
    fc.nat(1).map((at) => (narrow: Rule) => {
      const { matchExpressions, ...rest } = narrow.namespaceSelector ?? {};
      if (matchExpressions === undefined) return narrow;
      return {
        ...narrow,
        namespaceSelector: { ...rest, matchExpressions: matchExpressions.toSpliced(at, 1) },
      };
    }),
  );

  test("allow at least as much after a rule was relaxed", () => {
    let allowed = 0;
    fc.assert(
      fc.property(
        fc.array(rule, { minLength: 1, maxLength: 3 }),
        requested,
        access,
        fc.array(fc.tuple(fc.nat(2), widening), { maxLength: 3 }),
        fc.array(rule, { maxLength: 1 }),
        (rules, expected, token, widenings, more) => {
          if (!allows(rules, expected, token)) return;
          allowed++;
          const wider = [...more, ...rules];
          for (const [at, widen] of widenings) if (wider[at] !== undefined) wider[at] = widen(wider[at]);
          expect(verdict(wider, expected, token)).toBeUndefined();
        },
      ),
      { numRuns: 5000 },
    );
    expect(allowed).toBeGreaterThan(500);
  });

  test("allow exactly what one of them alone allows", () => {
    fc.assert(
      fc.property(fc.array(rule, { maxLength: 4 }), requested, access, (rules, expected, token) => {
        expect(allows(rules, expected, token)).toBe(rules.some((one) => allows([one], expected, token)));
      }),
      { numRuns: 2000 },
    );
  });

  test("allow a smaller request where a larger one is allowed", () => {
    fc.assert(
      fc.property(
        fc.array(rule, { maxLength: 3 }),
        requested,
        access,
        fc.nat(2),
        (rules, expected, token, at) => {
          if (!allows(rules, expected, token)) return;
          const [name, most] = Object.entries(expected.permissions ?? {})[0] ?? [];
          if (name === undefined) return;
          const less = levels[Math.min(at, levels.indexOf(most as Level))] ?? "read";
          const smaller = { ...expected, permissions: { ...expected.permissions, [name]: less } };
          const fewer = "repositories" in token ? { repositories: token.repositories.slice(1) } : token;
          expect(verdict(rules, smaller, fewer)).toBeUndefined();
        },
      ),
      { numRuns: 2000 },
    );
  });

  test("explain a refusal for each of them", () => {
    fc.assert(
      fc.property(fc.array(rule, { minLength: 1, maxLength: 4 }), requested, (rules, expected) => {
        const left = rulesFor(rules, expected);
        if (typeof left !== "string") return;
        for (const at of rules.keys()) expect(left).toContain(`rule ${at + 1}: `);
      }),
      { numRuns: 1000 },
    );
  });
});

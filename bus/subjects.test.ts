import fc from "fast-check";
import { expect, test } from "vitest";
import { leaseKey, positionKey } from "./bridge/position.ts";
import {
  childrenSubjects,
  consumers,
  familySubjects,
  keyText,
  kindSubjects,
  objectByName,
  objectSubject,
  parseKeySubject,
  parseKeyText,
  parseObjectSubject,
  token,
  untoken,
  work,
} from "./subjects.ts";

const value = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 40 }),
  fc.string({ unit: "binary", maxLength: 10 }),
  fc
    .array(fc.constantFrom(..."._*>= \t\r\n\0\uFEFFa0F".split("")), { maxLength: 10 })
    .map((all) => all.join("")),
);
const name = fc.stringMatching(/^[a-z0-9]([-a-z0-9.]{0,20}[a-z0-9])?$/);

test("token - encodes any value as one valid subject token, reversibly", () => {
  fc.assert(
    fc.property(value, (text) => {
      fc.pre(text.isWellFormed());
      const escaped = token(text);
      expect(escaped).toMatch(/^[A-Za-z0-9_=-]+$/);
      expect(untoken(escaped)).toBe(text);
    }),
  );
});

test("token - encodes different values differently", () => {
  fc.assert(
    fc.property(value, value, (a, b) => {
      fc.pre(a.isWellFormed() && b.isWellFormed());
      expect(token(a) === token(b)).toBe(a === b);
    }),
  );
  expect(token("_")).not.toBe(token(""));
});

test("untoken - rejects what token cannot have written", () => {
  expect(() => untoken("a=2")).toThrow(/two upper-case hex digits.*"a=2"/);
});

test("object subject - reads back as the address it was built from", () => {
  fc.assert(
    fc.property(name, name, name, fc.option(name, { nil: "" }), (group, cluster, object, owner) => {
      const at = { group, kind: "Hikawa", namespace: "default", owner, name: object };
      expect(parseObjectSubject(objectSubject(cluster, at))).toEqual({ cluster, ...at });
    }),
  );
});

test("key subjects - every space reads back as the same function, cluster, and key", () => {
  const scope = { fn: "hikawa", cluster: "local" };
  fc.assert(
    fc.property(name, fc.option(name, { nil: "" }), (object, namespace) => {
      const key = { namespace, name: object };
      const mark = { object: "uid", replica: object, version: "7" };
      for (const subject of [
        work.ticket(scope, key),
        work.timer(scope, key),
        work.timerDue(scope, key),
        work.mark(scope, key, mark),
        work.markDue(scope, key, mark),
        work.deadLetter(scope, key),
        work.crashes(scope, key),
      ]) {
        expect(parseKeySubject(subject)).toEqual({ ...scope, key });
      }
      expect(parseKeyText(keyText(key))).toEqual(key);
    }),
  );
});

test("token - rejects half a surrogate pair, which would share the token of another one", () => {
  for (const half of ["\ud800", "a\udfff", "\udc00\ud800"]) expect(() => token(half)).toThrow(RangeError);
});

test("token - preserves a byte order mark", () => {
  expect(untoken(token("\uFEFFa"))).toBe("\uFEFFa");
});

test("untoken - throws a RangeError on bytes that are not UTF-8", () => {
  for (const text of ["=FF", "=C3", "=ED=A0=80", "=F8=88=80=80=80"])
    expect(() => untoken(text)).toThrow(RangeError);
});

test("untoken - accepts one token per value, so that one object has one subject", () => {
  for (const text of ["", "=41", "a=2D", "a.b", "*", ">", "a*", "_a", "ā", "a b"])
    expect(() => untoken(text), text).toThrow(RangeError);
  fc.assert(
    fc.property(fc.oneof(value, fc.stringMatching(/^(=[0-9A-F]{2}|[a-z_.*]){0,6}$/)), (text) => {
      let found: string;
      try {
        found = untoken(text);
      } catch (error) {
        expect(error).toBeInstanceOf(RangeError);
        return;
      }
      expect(token(found)).toBe(text);
    }),
  );
});

/** Names that Kubernetes allows for some kind: RBAC's have colons, and the maximum is 253 characters. */
const kubeName = fc.oneof(
  name,
  fc.stringMatching(/^[a-z]{1,5}(:[a-zA-Z.-]{1,8}){0,4}$/),
  fc.constantFrom("system:controller:a.b", "a".repeat(253), `${"a.".repeat(126)}a`, "1", "a--b", "0.0"),
);
const group = fc.oneof(fc.constant(""), name, fc.constant("rbac.authorization.k8s.io"));
const wild = /[*>]/;

test("object subjects - any name reads back, and adds no wildcard or token", () => {
  fc.assert(
    fc.property(
      kubeName,
      group,
      fc.oneof(kubeName, fc.constant("")),
      value,
      (object, group, namespace, owner) => {
        fc.pre(owner.isWellFormed());
        const at = { group, kind: "Kind", namespace, owner, name: object };
        const subject = objectSubject("c", at);
        expect(subject.split(".")).toHaveLength(7);
        expect(subject).not.toMatch(wild);
        expect(parseObjectSubject(subject)).toEqual({ cluster: "c", ...at });
        // Only the intended wildcards.
        expect(objectByName("c", at, at).match(/\*/g)).toHaveLength(1);
        // A cluster-scoped owner has children in any namespace.
        const anywhere = namespace === "" ? 1 : 0;
        expect(childrenSubjects("c", at, namespace, owner).match(/\*/g)).toHaveLength(1 + anywhere);
        expect(familySubjects("c", namespace, owner).match(/\*/g)).toHaveLength(3 + anywhere);
        expect(kindSubjects("c", at, namespace).match(/[*>]/g)).toEqual([">"]);
        // Below the server's limit for one line of its protocol.
        expect(Buffer.byteLength(subject)).toBeLessThan(4096);
      },
    ),
  );
});

test("names of consumers and keys of the bucket are valid for any namespace", () => {
  fc.assert(
    fc.property(kubeName, group, kubeName, (cluster, group, namespace) => {
      const scope = { fn: "hikawa", cluster };
      const looksAt = { scope, ...scope, kinds: [{ group, kind: "Kind" }] };
      for (const consumer of Object.values(consumers)) expect(consumer(looksAt)).toMatch(/^[^.*>\s/\\]+$/);
      const kind = { group, kind: "Kind" } as Parameters<typeof positionKey>[1];
      for (const key of [positionKey, leaseKey].map((of) => of(cluster, kind, namespace)))
        expect(key).toMatch(/^[-/=.\w]+$/);
    }),
  );
});

test("key subjects - throws a RangeError on a subject of another form instead of returning a wrong key", () => {
  const scope = { fn: "hikawa", cluster: "local" };
  const key = { namespace: "default", name: "a" };
  const mark = { object: "uid", replica: "r", version: "1" };
  const good = [work.ticket(scope, key), work.timerDue(scope, key), work.mark(scope, key, mark)];
  for (const subject of good.flatMap((one) => [`${one}.b`, one.slice(0, one.lastIndexOf("."))]))
    expect(() => parseKeySubject(subject), subject).toThrow(RangeError);
  for (const subject of ["", "toString.a.b.c.d", "work", "work.a.b.c.=zz", "objects.a.b.c.d"])
    expect(() => parseKeySubject(subject), subject).toThrow(RangeError);
  const space = fc.constantFrom("work", "timers", "marks", "deadletters", "crashes", "objects", "x");
  const part = fc.oneof(
    name.map(token),
    fc.constantFrom("at", "due", "*", ">", "_", "", "=zz", "=FF", "=41"),
  );
  fc.assert(
    fc.property(space, fc.array(part, { maxLength: 9 }), (first, rest) => {
      const subject = [first, ...rest].join(".");
      for (const parse of [parseKeySubject, parseObjectSubject]) {
        try {
          const found = parse(subject);
          const { namespace, name } = "key" in found ? found.key : found;
          expect(subject).toContain(`.${token(namespace)}.`);
          expect(subject).toContain(`.${token(name)}`);
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError);
        }
      }
    }),
  );
});

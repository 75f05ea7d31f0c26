import fc from "fast-check";
import { expect, test } from "vitest";
import {
  keyText,
  objectSubject,
  parseKeySubject,
  parseKeyText,
  parseObjectSubject,
  token,
  untoken,
  work,
} from "./subjects.ts";

const value = fc.string({ unit: "grapheme", maxLength: 40 });
const name = fc.stringMatching(/^[a-z0-9]([-a-z0-9.]{0,20}[a-z0-9])?$/);

test("token - any value survives as one valid subject token", () => {
  fc.assert(
    fc.property(value, (text) => {
      const escaped = token(text);
      expect(escaped).toMatch(/^[A-Za-z0-9_=-]+$/);
      expect(untoken(escaped)).toBe(text);
    }),
  );
});

test("token - different values never share a token", () => {
  fc.assert(
    fc.property(value, value, (a, b) => {
      expect(token(a) === token(b)).toBe(a === b);
    }),
  );
  expect(token("_")).not.toBe(token(""));
});

test("untoken - refuses what token can not have written", () => {
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

test("key subjects - every space reads back as the same function, cluster and key", () => {
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

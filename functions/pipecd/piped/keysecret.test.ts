import { expect, test } from "vitest";
import type { SecretObject } from "../../../bus/kube/kind.ts";
import type { Stored } from "../../../bus/kube/object.ts";
import { contentDigest } from "../kubernetes/secrets.ts";
import { annotations } from "../names.ts";
import { holderOf, isListed } from "./keysecret.ts";

const secret = (key: string, noted: Readonly<Record<string, string>>): Stored<SecretObject> =>
  ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name: "p",
      uid: "s",
      resourceVersion: "1",
      annotations: { [annotations.pipedID]: "id", ...noted },
    },
    data: { "piped-key": btoa(key) },
  }) as unknown as Stored<SecretObject>;

const digest = { [annotations.pipedKeyDigest]: contentDigest("key") };

test.each([
  ["a key without a digest", "key", {}, "id"],
  ["the key of the digest", "key", digest, "id"],
  ["an edited key", "edited", digest, undefined],
  ["no key", "", {}, undefined],
])("of %s the holder is known, or it counts as lost", (_, key, noted, holder) => {
  expect(holderOf(secret(key, noted))).toBe(holder);
});

const own = { [annotations.pipedKeyID]: "own" };
const ending = { ...own, [annotations.olderKeys]: "revoke" };

test.each<readonly [string, Readonly<Record<string, string>>, readonly string[], boolean]>([
  ["has it", own, ["own"], true],
  ["has a newer one as well", own, ["other", "own"], true],
  ["has another one", own, ["other"], false],
  ["has it as the newest, when older ones are to be ended", ending, ["own", "other"], true],
  [
    "has a newer one, when older ones are to be ended: PipeCD would keep that",
    ending,
    ["other", "own"],
    false,
  ],
  ["has any, and the Secret has no id of its key", {}, ["other"], true],
])("a Secret's key is good when PipeCD %s", (_, noted, keyIDs, isGood) => {
  expect(isListed(secret("key", noted), { keyIDs })).toBe(isGood);
});

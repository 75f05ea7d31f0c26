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
])("returns the holder of %s, or undefined if the key is lost", (_, key, noted, holder) => {
  expect(holderOf(secret(key, noted))).toBe(holder);
});

const own = { [annotations.pipedKeyID]: "own" };
const ending = { ...own, [annotations.olderKeys]: "revoke" };

test.each<readonly [string, Readonly<Record<string, string>>, readonly string[], boolean]>([
  ["lists it", own, ["own"], true],
  ["lists a newer one too", own, ["other", "own"], true],
  ["lists only another one", own, ["other"], false],
  ["lists it as the newest before the older ones are disabled", ending, ["own", "other"], true],
  [
    "lists a newer one, which PipeCD would keep when the older ones are disabled",
    ending,
    ["other", "own"],
    false,
  ],
  ["lists any key, and the Secret has no id of its own", {}, ["other"], true],
])("checks a Secret's key when PipeCD %s", (_, noted, keyIDs, isGood) => {
  expect(isListed(secret("key", noted), { keyIDs })).toBe(isGood);
});

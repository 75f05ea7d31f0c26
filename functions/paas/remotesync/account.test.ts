import fc from "fast-check";
import { expect, test } from "vitest";
import type { Stored } from "../../../bus/kube/object.ts";
import type { ServiceAccount } from "../../../bus/kube/workloads.ts";
import { mergePatched } from "../../../bus/worker/writes.ts";
import type { RemoteSync } from "../kinds/remotesync.ts";
import { accountFields, accountWish, isNoted } from "./account.ts";

type Wish = ReturnType<typeof accountWish>;

const sync = (git: string, registry?: string): RemoteSync => ({
  apiVersion: "modoki.tsuzu.dev/v1alpha1",
  kind: "RemoteSync",
  metadata: { namespace: "default", name: "web" },
  spec: {
    applicationRef: { name: "web" },
    base: { github: { owner: "acme", repo: "web", secretName: git } },
    image: { name: "registry.example.com/acme/web", ...(registry !== undefined && { secretName: registry }) },
  },
});

const account = (more: Partial<ServiceAccount> = {}): Stored<ServiceAccount> => ({
  apiVersion: "v1",
  kind: "ServiceAccount",
  spec: undefined,
  ...more,
  metadata: {
    namespace: "default",
    name: "modoki-web-builder",
    uid: "u",
    resourceVersion: "1",
    ...more.metadata,
  },
});

/** What the API server has after a write: lists without items are left out. */
function written(before: Stored<ServiceAccount>, wish: Wish): Stored<ServiceAccount> {
  const after = mergePatched(before, accountFields(before, wish)) as Stored<ServiceAccount>;
  const { secrets, imagePullSecrets, ...rest } = after;
  return {
    ...rest,
    ...(secrets?.length && { secrets }),
    ...(imagePullSecrets?.length && { imagePullSecrets }),
  };
}

const namesOf = (list: ServiceAccount["secrets"]): (string | undefined)[] =>
  (list ?? []).map(({ name }) => name);

test("an account has the Secrets of git and the registry, and pulls with the latter", () => {
  expect(accountWish(sync("git", "reg"))).toEqual({ secrets: ["git", "reg"], imagePullSecrets: ["reg"] });
});

test.each([undefined, ""])("without a Secret of a registry (%j) nothing empty is in the account", (name) => {
  const wish = accountWish(sync("git", name));
  expect(wish).toEqual({ secrets: ["git"], imagePullSecrets: [] });
  expect(accountFields(undefined, wish)).toMatchObject({ secrets: [{ name: "git" }] });
  expect(accountFields(undefined, wish)).not.toHaveProperty("imagePullSecrets");
});

test("one Secret for both is in the account once", () => {
  expect(accountWish(sync("both", "both"))).toEqual({ secrets: ["both"], imagePullSecrets: ["both"] });
});

test("references without a name go, with which every build would fail", () => {
  const fields = accountFields(
    account({ secrets: [{}, { name: "theirs" }], imagePullSecrets: [{}] }),
    accountWish(sync("git", "reg")),
  );
  expect(namesOf(fields.secrets)).toEqual(["theirs", "git", "reg"]);
  expect(namesOf(fields.imagePullSecrets)).toEqual(["reg"]);
});

test("an account is noted for its Secrets, and not for others", () => {
  const wish = accountWish(sync("git", "reg"));
  const kept = written(account(), wish);
  expect(isNoted(kept, wish)).toBe(true);
  expect(isNoted(kept, accountWish(sync("git", "other")))).toBe(false);
  expect(isNoted(undefined, wish)).toBe(false);
});

const own = fc.constantFrom("git-1", "git-2", "reg-1", "reg-2");
const wishes = fc.array(fc.tuple(own, fc.option(own, { nil: undefined })), { minLength: 1, maxLength: 5 });
const theirs = fc.uniqueArray(fc.stringMatching(/^other-[a-z]{1,4}$/), { maxLength: 4 });

test("through any renames, what is others' stays in its order, and of ours there is what is wanted", () => {
  fc.assert(
    fc.property(wishes, theirs, theirs, (names, secrets, pulls) => {
      const before = account({
        secrets: secrets.map((name) => ({ name })),
        imagePullSecrets: pulls.map((name) => ({ name })),
      });
      const all = names.map(([git, registry]) => accountWish(sync(git, registry)));
      const after = all.reduce(written, before);
      const last = all.at(-1) as Wish;
      expect(namesOf(after.secrets).filter((name) => name?.startsWith("other-"))).toEqual(secrets);
      expect(namesOf(after.imagePullSecrets).filter((name) => name?.startsWith("other-"))).toEqual(pulls);
      expect(namesOf(after.secrets).sort()).toEqual([...secrets, ...last.secrets].sort());
      expect(namesOf(after.imagePullSecrets).sort()).toEqual([...pulls, ...last.imagePullSecrets].sort());
    }),
  );
});

test("what is as it is wanted is not written again", () => {
  fc.assert(
    fc.property(wishes, theirs, (names, secrets) => {
      const all = names.map(([git, registry]) => accountWish(sync(git, registry)));
      const after = all.reduce(written, account({ secrets: secrets.map((name) => ({ name })) }));
      expect(mergePatched(after, accountFields(after, all.at(-1) as Wish))).toStrictEqual(after);
    }),
  );
});

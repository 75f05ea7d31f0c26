import fc from "fast-check";
import { expect, test } from "vitest";
import type { Stored } from "../../../bus/kube/object.ts";
import type { ServiceAccount } from "../../../bus/kube/workloads.ts";
import { mergePatched } from "../../../bus/worker/writes.ts";
import type { RemoteSync } from "../kinds/remotesync.ts";
import { accountFields, desiredAccount, isNoted } from "./account.ts";

type Wish = ReturnType<typeof desiredAccount>;

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

/** The stored object after a write: the API server drops empty lists. */
function written(before: Stored<ServiceAccount>, desired: Wish): Stored<ServiceAccount> {
  const after = mergePatched(before, accountFields(before, desired)) as Stored<ServiceAccount>;
  const { secrets, imagePullSecrets, ...rest } = after;
  return {
    ...rest,
    ...(secrets?.length && { secrets }),
    ...(imagePullSecrets?.length && { imagePullSecrets }),
  };
}

const namesOf = (list: ServiceAccount["secrets"]): (string | undefined)[] =>
  (list ?? []).map(({ name }) => name);

test("gives the account the Secrets of git and the registry, and pulls with the latter", () => {
  expect(desiredAccount(sync("git", "reg"))).toEqual({ secrets: ["git", "reg"], imagePullSecrets: ["reg"] });
});

test.each([undefined, ""])("adds no empty name without a registry Secret (%j)", (name) => {
  const desired = desiredAccount(sync("git", name));
  expect(desired).toEqual({ secrets: ["git"], imagePullSecrets: [] });
  expect(accountFields(undefined, desired)).toMatchObject({ secrets: [{ name: "git" }] });
  expect(accountFields(undefined, desired)).not.toHaveProperty("imagePullSecrets");
});

test("adds a Secret for both uses once", () => {
  expect(desiredAccount(sync("both", "both"))).toEqual({ secrets: ["both"], imagePullSecrets: ["both"] });
});

test("removes references without a name, which would fail every build", () => {
  const fields = accountFields(
    account({ secrets: [{}, { name: "theirs" }], imagePullSecrets: [{}] }),
    desiredAccount(sync("git", "reg")),
  );
  expect(namesOf(fields.secrets)).toEqual(["theirs", "git", "reg"]);
  expect(namesOf(fields.imagePullSecrets)).toEqual(["reg"]);
});

test("detects whether the account was updated for the same Secrets", () => {
  const desired = desiredAccount(sync("git", "reg"));
  const kept = written(account(), desired);
  expect(isNoted(kept, desired)).toBe(true);
  expect(isNoted(kept, desiredAccount(sync("git", "other")))).toBe(false);
  expect(isNoted(undefined, desired)).toBe(false);
});

const own = fc.constantFrom("git-1", "git-2", "reg-1", "reg-2");
const wishes = fc.array(fc.tuple(own, fc.option(own, { nil: undefined })), { minLength: 1, maxLength: 5 });
const theirs = fc.uniqueArray(fc.stringMatching(/^other-[a-z]{1,4}$/), { maxLength: 4 });

test("keeps the order of other entries through any renames, and exactly its own desired entries", () => {
  fc.assert(
    fc.property(wishes, theirs, theirs, (names, secrets, pulls) => {
      const before = account({
        secrets: secrets.map((name) => ({ name })),
        imagePullSecrets: pulls.map((name) => ({ name })),
      });
      const all = names.map(([git, registry]) => desiredAccount(sync(git, registry)));
      const after = all.reduce(written, before);
      const last = all.at(-1) as Wish;
      expect(namesOf(after.secrets).filter((name) => name?.startsWith("other-"))).toEqual(secrets);
      expect(namesOf(after.imagePullSecrets).filter((name) => name?.startsWith("other-"))).toEqual(pulls);
      expect(namesOf(after.secrets).sort()).toEqual([...secrets, ...last.secrets].sort());
      expect(namesOf(after.imagePullSecrets).sort()).toEqual([...pulls, ...last.imagePullSecrets].sort());
    }),
  );
});

test("writes nothing when the account is up to date", () => {
  fc.assert(
    fc.property(wishes, theirs, (names, secrets) => {
      const all = names.map(([git, registry]) => desiredAccount(sync(git, registry)));
      const after = all.reduce(written, account({ secrets: secrets.map((name) => ({ name })) }));
      expect(mergePatched(after, accountFields(after, all.at(-1) as Wish))).toStrictEqual(after);
    }),
  );
});

import { describe, expect, test } from "vitest";
import type { WebhookPayload } from "../../bus/webhooks/github/payloads.ts";
import { BlockedError } from "../../bus/worker/errors.ts";
import { identified, keysOfMove, keysOfWebhook, knownAs, renameNote, repositoryKeys } from "./identity.ts";

const web = { owner: "acme", repo: "web" };
const site = { id: 1, fullName: "acme/site" };
const known = identified(web, { id: 1, fullName: "acme/web" }, undefined);

const moved = (changes: WebhookPayload<"repository">["changes"]): WebhookPayload<"repository"> => ({
  action: "renamed",
  changes,
  repository: {
    id: 1,
    name: "site",
    full_name: "acme/site",
    url: "https://api.github.com/repos/acme/site",
    owner: { login: "acme" },
  },
});

describe("a renamed repository", () => {
  test("is recognized, and the note says what to change", () => {
    const found = identified(web, site, known);
    expect(found).toEqual({ name: "acme/web", id: 1, fullName: "acme/site" });
    expect(renameNote(found)).toBe(
      "the repository acme/web was renamed to acme/site: set spec.base.github to owner acme and repo site",
    );
    expect(renameNote(found, "previews")).toContain("spec.base.github of the AppPipeline previews to owner");
    const transferred = identified(web, { id: 1, fullName: "Other/web" }, known);
    expect(renameNote(transferred)).toContain(
      "was renamed to Other/web: set spec.base.github to owner Other",
    );
  });

  test("has no note for another case, or before GitHub was asked", () => {
    const asked = { owner: "Acme", repo: "WEB" };
    const found = identified(asked, { id: 1, fullName: "aCME/Web" }, undefined);
    expect(found.name).toBe("acme/web");
    expect(renameNote(found)).toBeUndefined();
    expect(renameNote(undefined)).toBeUndefined();
  });

  test("is followed once the spec has its new name", () => {
    const before = identified(web, site, known);
    const named = { owner: "acme", repo: "site" };
    expect(knownAs(named, before)).toBeUndefined();
    expect(renameNote(identified(named, site, before))).toBeUndefined();
  });
});

describe("a repository that takes the name of another one", () => {
  const replaced = (before: typeof known): BlockedError => {
    try {
      identified(web, { id: 5, fullName: "acme/web" }, before);
    } catch (error) {
      if (error instanceof BlockedError) return error;
      throw error;
    }
    return expect.fail("expected a BlockedError, found a repository");
  };

  test("is refused with a message on what to do", () => {
    const { reason, message } = replaced(known);
    expect(reason).toBe("RepositoryReplaced");
    expect(message).toContain(
      "the name acme/web now belongs to another repository: its GitHub id is 5, it was 1 before.",
    );
    expect(message).toContain("delete this object and create it again");
    expect(message).not.toContain("last called");
    expect(replaced(identified(web, site, known)).message).toContain("last called acme/site.");
  });

  test("is accepted if the spec did not have that name before", () => {
    const other = identified({ owner: "acme", repo: "api" }, { id: 9, fullName: "acme/api" }, undefined);
    expect(identified(web, { id: 5, fullName: "acme/web" }, other)).toMatchObject({ id: 5 });
  });
});

describe("webhooks", () => {
  const wakes = (keys: readonly string[], before?: typeof known): boolean =>
    repositoryKeys({ owner: "Acme", repo: "Web" }, before).some((key) => keys.includes(key));

  test("find objects by the name in the spec and by the repository's id", () => {
    expect(wakes(keysOfWebhook("acme", "web", 5))).toBe(true);
    expect(wakes(keysOfWebhook("acme", "site", 1))).toBe(false);
    expect(wakes(keysOfWebhook("acme", "site", 1), known)).toBe(true);
    expect(wakes(keysOfWebhook("acme", "site", 11), known)).toBe(false);
    const other = identified({ owner: "acme", repo: "api" }, { id: 1, fullName: "acme/api" }, undefined);
    expect(wakes(keysOfWebhook("acme", "site", 1), other)).toBe(false);
  });

  test.each<[string, string, string, WebhookPayload<"repository">["changes"]]>([
    ["renamed", "acme", "site", { repository: { name: { from: "Web" } } }],
    [
      "transferred from an organization",
      "other",
      "web",
      { owner: { from: { organization: { login: "Acme" } } } },
    ],
    ["transferred from a user", "other", "web", { owner: { from: { user: { login: "ACME" } } } }],
    ["made public", "acme", "web", {}],
    ["created", "acme", "web", undefined],
  ])(
    "about a repository that was %s find objects with its previous name only",
    (_, owner, repository, changes) => {
      expect(wakes(keysOfMove(owner, repository, moved(changes)))).toBe(true);
      expect(keysOfMove(owner, repository, moved(changes))).toContain(`${owner}/${repository}`);
      expect(keysOfMove(owner, repository, moved(changes))).toContain("1");
    },
  );
});

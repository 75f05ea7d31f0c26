import { expect, test } from "vitest";
import { functions } from "../../functions/index.ts";
import { userRoles } from "./users.ts";

interface Role {
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly rules: readonly {
    readonly apiGroups: string[];
    readonly resources: string[];
    readonly verbs: string[];
  }[];
}
const roles = userRoles(functions) as unknown as Role[];
const find = (name: string): Role => roles.find(({ metadata }) => metadata.name === name) as Role;
const resources = (name: string) =>
  find(name).rules.flatMap(({ apiGroups: [group], resources }) => resources.map((one) => `${one}.${group}`));
const partOf = (name: string) =>
  Object.keys(find(name).metadata.labels)
    .map((label) => /aggregate-to-(\w+)$/.exec(label)?.[1])
    .filter(Boolean);

test("viewers see namespaced kinds and no cluster-scoped ones", () => {
  expect(partOf("denrei-view")).toEqual(["view", "edit", "admin"]);
  expect(resources("denrei-view")).toContain("applications.modoki.tsuzu.dev");
  expect(resources("denrei-view")).not.toContain("clustergithubapps.ghapp.tsuzu.dev");
  expect(resources("denrei-view")).toEqual(
    expect.arrayContaining(["activity.denrei.dev", "deadletters.denrei.dev"]),
  );
  expect(new Set(find("denrei-view").rules.flatMap(({ verbs }) => verbs))).toEqual(
    new Set(["get", "list", "watch"]),
  );
});

test("viewers see the kpack objects of RemoteSyncs, and editors may only patch Builds to rebuild them", () => {
  expect(resources("denrei-view")).toEqual(expect.arrayContaining(["builds.kpack.io", "images.kpack.io"]));
  const written = ["denrei-edit", "denrei-admin"]
    .flatMap((name) => find(name).rules)
    .filter(({ apiGroups }) => apiGroups.includes("kpack.io"));
  expect(written).toEqual([{ apiGroups: ["kpack.io"], resources: ["builds"], verbs: ["patch"] }]);
});

test("editors write and scale, and only administrators hand out tokens", () => {
  expect(partOf("denrei-edit")).toEqual(["edit", "admin"]);
  expect(resources("denrei-edit")).toEqual(
    expect.arrayContaining(["applications.modoki.tsuzu.dev", "applications/scale.modoki.tsuzu.dev"]),
  );
  expect(resources("denrei-edit")).toContain("deadletters/replay.denrei.dev");
  expect(resources("denrei-view")).not.toContain("deadletters/replay.denrei.dev");
  const handedOut = ["githubapps.ghapp.tsuzu.dev", "installations.ghapp.tsuzu.dev"];
  expect(resources("denrei-edit").filter((one) => handedOut.includes(one))).toEqual([]);
  expect(partOf("denrei-admin")).toEqual(["admin"]);
  expect(resources("denrei-admin")).toEqual(handedOut);
});

test("no namespaced role writes kinds with cluster-wide power, and all of them read these", () => {
  const all = ["denrei-edit", "denrei-admin"].flatMap(resources);
  expect(all).not.toContain("pipeds.pipecd.kanatakita.com");
  expect(resources("denrei-view")).toContain("pipeds.pipecd.kanatakita.com");
});

test("only a separate role views the whole bus", () => {
  expect(partOf("denrei-bus-viewer")).toEqual([]);
  expect(find("denrei-bus-viewer").rules).toEqual([
    { apiGroups: ["denrei.dev"], resources: ["functions"], verbs: ["get"] },
  ]);
  const others = ["denrei-view", "denrei-edit", "denrei-admin"].flatMap(resources);
  expect(others).not.toContain("functions.denrei.dev");
});

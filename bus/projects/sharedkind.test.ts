import { expect, test } from "vitest";
import { ConfigMap, externalKind, type Kind, Pod } from "../kube/kind.ts";
import { recordOf } from "./record.ts";
import { sharedKind } from "./sharedkind.ts";

const pods = (more: Partial<Pick<Kind, "fields" | "publish" | "version">>) =>
  externalKind({ ...Pod, ...more });
const record = (kind: Kind, annotations: readonly string[] = []) =>
  recordOf("other", { kinds: [kind], annotations, webhooks: [] });
const shared = (kind: Kind, ...others: Kind[]) => {
  const { kind: found, partial } = sharedKind(
    kind,
    new Set(),
    others.map((one) => record(one)),
  );
  return { publish: found.publish, fields: found.fields, partial };
};

test("a kind that no other project needs is unchanged", () => {
  const kind = pods({ fields: ["status", "spec.nodeName"] });
  expect(sharedKind(kind, new Set(["a"]), [record(ConfigMap)])).toEqual({
    ...{ kind, annotations: new Set(["a"]), partial: false, projects: [] },
  });
});

test.each<[string, Kind, Kind, object]>([
  [
    "fields are united",
    pods({ fields: ["status"] }),
    pods({ fields: ["spec"] }),
    { fields: ["spec", "status"] },
  ],
  ["all fields include some", pods({ fields: ["status"] }), pods({}), { fields: undefined }],
  [
    "objects include metadata",
    pods({ publish: "metadata" }),
    pods({ fields: ["spec"] }),
    { fields: ["spec"] },
  ],
  [
    "metadata stays metadata",
    pods({ publish: "metadata" }),
    pods({ publish: "metadata" }),
    { publish: "metadata" },
  ],
  ["other versions leave a part", pods({}), pods({ version: "v2" }), { partial: true }],
])("%s, from either side", (_, one, other, expected) => {
  const both = { publish: "object", partial: false, ...expected };
  expect(shared(one, other)).toMatchObject(both);
  expect(shared(other, one)).toMatchObject(both);
});

test("annotations of every project that needs the kind are published", () => {
  const others = [record(ConfigMap, ["b"]), record(Pod, ["c"])];
  const { annotations, projects } = sharedKind(ConfigMap, new Set(["a"]), others);
  expect([...annotations]).toEqual(["a", "b"]);
  expect(projects).toEqual(["other"]);
});

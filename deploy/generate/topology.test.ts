import { expect, test } from "vitest";
import hikawa from "../../functions/zundoko/hikawa.ts";
import { changedUnderVersion, declaredTopology, topologyIn } from "./topology.ts";
import { yamlText } from "./yaml.ts";

const now = declaredTopology([hikawa], "default", 4);
const changed = (more: object) => ({
  ...now,
  streams: { ...now.streams, WORK_hikawa: { ...now.streams.WORK_hikawa, ...more } },
});

test("a written topology is parsed unchanged", () => {
  expect(changedUnderVersion(topologyIn(yamlText([now])), now)).toEqual([]);
});

test("a changed stream or consumer needs a new version", () => {
  expect(changedUnderVersion(now, changed({ max_age: 1 }))).toEqual(["WORK_hikawa"]);
  expect(changedUnderVersion(now, { ...changed({ max_age: 1 }), topology: 5 })).toEqual([]);
  const consumers = { ...now.consumers, "WORK_hikawa default": { ack_policy: "none" } };
  expect(changedUnderVersion(now, { ...now, consumers })).toEqual(["WORK_hikawa default"]);
});

test("adding, removing, or changing the kinds of a function needs no new version", () => {
  const less = declaredTopology([], "default", 4);
  expect(changedUnderVersion(less, now)).toEqual([]);
  expect(changedUnderVersion(now, less)).toEqual([]);
  const other = declaredTopology([{ ...hikawa, owns: [] }], "default", 4);
  expect(Object.keys(other.consumers)).not.toEqual(Object.keys(now.consumers));
  expect(changedUnderVersion(now, other)).toEqual([]);
});

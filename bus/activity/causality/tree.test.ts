import { expect, test } from "vitest";
import type { Cause } from "../../queue/request.ts";
import type { Activity } from "../record.ts";
import type { StoredActivity } from "../stream.ts";
import { causalGraph, type Origin } from "./links.ts";
import { beginningOf, type CausalThread, type CausalTree, causalTree, type TreeOptions } from "./tree.ts";

/** `App web` is an object, and `App web@7` a version of it. */
function objectOf(text: string) {
  const [, kind = "", name = ""] = /^(\w+) (\w+)/.exec(text) ?? [];
  return { group: "g", kind, namespace: "team", name };
}
const versionOf = (text: string): string => text.split("@")[1] ?? "";

const changed = (version: string): Cause => ({
  ...{ type: "object", uid: "u", resourceVersion: versionOf(version) },
  ...objectOf(version),
});
const timer: Cause = { type: "timer" };
const push: Cause = { type: "webhook", provider: "github", event: "push", delivery: "d1" };

interface Run extends Partial<Omit<Activity, "causes" | "writes">> {
  readonly causes: readonly Cause[];
  /** Written versions; a deletion begins with `-`. */
  readonly writes?: readonly string[];
}

/** A run of `fn` for an object at a second. */
function run(second: number, fn: string, object: string, { causes, writes = [], ...facts }: Run) {
  const { group, kind, namespace, name } = objectOf(object);
  const startedAt = second * 1000;
  const record: Activity = {
    ...{ replica: "worker-1", group, kind, attempt: 0, outcome: "success", startedAt },
    ...{ waitedMillis: 5, tookMillis: 100, moreCauses: 0, moreWrites: 0, causes: [...causes] },
    writes: writes.map((text) => ({
      verb: text.startsWith("-") ? ("delete" as const) : ("apply" as const),
      ...objectOf(text.replace("-", "")),
      resourceVersion: versionOf(text),
    })),
    ...facts,
  };
  const storedAt = BigInt(startedAt + 100) * 1_000_000n;
  return { fn, cluster: "default", key: { namespace, name }, sequence: second, storedAt, record };
}

/** The tree of the origin of a record, as indented lines. */
function treeOf(records: readonly StoredActivity[], focus: StoredActivity, limit = 100): string[] {
  const graph = causalGraph(records);
  const { origin, first } = beginningOf(graph, focus);
  return linesOf(causalTree(graph, origin, { limit, first, focus }));
}

const treeFrom = (records: readonly StoredActivity[], origin: Origin, options: TreeOptions): string[] =>
  linesOf(causalTree(causalGraph(records), origin, options));

function linesOf({ origin, threads, omitted }: CausalTree): string[] {
  const from = origin.type === "change" ? `${origin.object.kind} ${origin.object.name}` : origin.type;
  return [
    from,
    ...threads.flatMap((thread) => threadLines(thread, 1)),
    ...(omitted ? [`${omitted} more`] : []),
  ];
}

function threadLines({ link, runs }: CausalThread, depth: number): string[] {
  const indent = "  ".repeat(depth);
  const how = link === undefined || link.type === "continuation" ? "" : ` <- ${link.type} ${link.write}`;
  return runs.flatMap((step, at) => {
    if (step.type === "quiet") return [`${indent}${step.runs.length} quiet`];
    const { fn, key, record } = step.activity;
    const line = `${indent}${at > 0 ? "then " : ""}${fn} ${key.name} ${record.outcome}${at > 0 ? "" : how}`;
    return [line, ...step.threads.flatMap((thread) => threadLines(thread, depth + 1))];
  });
}

test("a version that one function wrote is the cause of another function's reconcile", () => {
  const edited = run(1, "pipelines", "Pipeline shop", {
    causes: [changed("Pipeline shop@10")],
    writes: ["App one@11", "App two@12"],
  });
  const one = run(2, "apps", "App one", { causes: [changed("App one@11")], writes: ["Deployment one@13"] });
  const two = run(3, "apps", "App two", { causes: [changed("App two@12")] });
  const other = run(4, "apps", "App three", { causes: [changed("App three@14")] });
  expect(treeOf([two, other, one, edited], two)).toEqual([
    "Pipeline shop",
    "  pipelines shop success",
    "    apps one success <- write 0",
    "    apps two success <- write 1",
  ]);
  expect(treeOf([two, other, one, edited], other)).toEqual(["App three", "  apps three success"]);
});

test("all reconciles of one change or one webhook begin at the same origin", () => {
  const apps = run(1, "apps", "App web", { causes: [changed("App web@10")] });
  const routes = run(1, "routes", "App web", { causes: [changed("App web@10")] });
  expect(treeOf([apps, routes], routes)).toEqual(["App web", "  apps web success", "  routes web success"]);
  const pushed = [1, 2].map((second) => run(second, "syncs", `Sync s${second}`, { causes: [push] }));
  expect(
    treeFrom(pushed, { type: "webhook", provider: "github", event: "push", delivery: "d1" }, { limit: 9 }),
  ).toEqual(["webhook", "  syncs s1 success", "  syncs s2 success"]);
});

test("retries, timers, and replays continue the run before them", () => {
  const edit = changed("App web@10");
  const runs = [
    run(1, "apps", "App web", { causes: [edit], outcome: "retry", error: { name: "Busy", message: "busy" } }),
    run(2, "apps", "App web", { causes: [edit], attempt: 1, outcome: "dead_lettered" }),
    run(3, "apps", "App web", {
      causes: [{ type: "replay" }],
      outcome: "requeue_after",
      writes: ["Job j@12"],
    }),
    run(4, "apps", "App web", { causes: [timer], writes: ["Job k@13"] }),
    run(5, "jobs", "Job k", { causes: [changed("Job k@13")] }),
  ];
  expect(treeOf(runs, runs[4] as StoredActivity)).toEqual([
    "App web",
    "  apps web retry",
    "  then apps web dead_lettered",
    "  then apps web requeue_after",
    "  then apps web success",
    "    jobs k success <- write 0",
  ]);
});

test("groups timers that change nothing, and ends them at the next change", () => {
  const quiet = (second: number) =>
    run(second, "apps", "App web", { causes: [timer], outcome: "requeue_after" });
  const runs = [
    run(1, "apps", "App web", { causes: [changed("App web@10")], outcome: "requeue_after" }),
    ...[2, 3, 4].map(quiet),
    run(5, "apps", "App web", { causes: [timer], writes: ["Deployment web@11"] }),
    ...[6, 7].map(quiet),
    run(8, "apps", "App web", { causes: [changed("App web@20")] }),
    ...[9].map(quiet),
  ];
  expect(treeOf(runs, runs[2] as StoredActivity)).toEqual([
    "App web",
    "  apps web requeue_after",
    "  3 quiet",
    "  then apps web success",
    "  2 quiet",
  ]);
  expect(treeOf(runs, runs.at(-1) as StoredActivity)).toEqual(["App web", "  apps web success", "  1 quiet"]);
});

test("a change of a child by another program follows from the last write, but not from an old one", () => {
  const write = run(1, "apps", "App web", { causes: [changed("App web@10")], writes: ["Deployment web@11"] });
  const ready = run(20, "apps", "App web", { causes: [changed("Deployment web@15")] });
  const later = run(3600, "apps", "App web", { causes: [changed("Deployment web@90")] });
  const all = [write, ready, later];
  expect(treeOf(all, ready)).toEqual(["App web", "  apps web success", "    apps web success <- outside 0"]);
  expect(treeOf(all, later)).toEqual(["Deployment web", "  apps web success"]);
});

test("an edit of an object that another function created is an origin of its own", () => {
  const create = run(1, "pipelines", "Pipeline shop", {
    causes: [changed("Pipeline shop@10")],
    writes: ["App one@11"],
  });
  const edited = run(9, "apps", "App one", { causes: [changed("App one@20")] });
  const seen = run(9, "pipelines", "Pipeline shop", { causes: [changed("App one@20")] });
  expect(treeOf([create, edited, seen], seen)).toEqual([
    "App one",
    "  apps one success",
    "  pipelines shop success",
  ]);
});

test("a deletion causes the reconcile of a later version", () => {
  const remove = run(1, "pipelines", "Pipeline shop", { causes: [push], writes: ["-App one@11"] });
  const removed = run(2, "apps", "App one", { causes: [changed("App one@14")] });
  expect(treeOf([remove, removed], removed)).toEqual([
    "webhook",
    "  pipelines shop success",
    "    apps one success <- write 0",
  ]);
});

test("an apply that changes nothing does not take over the version of an earlier write", () => {
  const first = run(1, "apps", "App web", { causes: [changed("App web@10")], writes: ["Job j@11"] });
  const again = run(2, "apps", "App web", { causes: [changed("App web@12")], writes: ["Job j@11"] });
  const job = run(3, "jobs", "Job j", { causes: [changed("Job j@11")] });
  expect(treeOf([first, again, job], again)).toEqual(["App web", "  apps web success"]);
  expect(treeOf([first, again, job], job)).toEqual([
    "App web",
    "  apps web success",
    "    jobs j success <- write 0",
  ]);
});

test("a reconcile with several causes is below the first one that belongs to the tree", () => {
  const one = run(1, "apps", "App one", { causes: [changed("App one@10")], writes: ["Job one@11"] });
  const two = run(1, "apps", "App two", { causes: [push], writes: ["Job two@12"] });
  const both = run(3, "lists", "List l", { causes: [changed("Job one@11"), changed("Job two@12")] });
  const all = [one, two, both];
  expect(treeOf(all, both)).toEqual(["App one", "  apps one success", "    lists l success <- write 0"]);
  expect(treeOf(all, two)).toEqual(["webhook", "  apps two success", "    lists l success <- write 0"]);
});

test("keeps the oldest reconciles and the way to the focus when there are too many", () => {
  const write = (second: number) => ({
    causes: [changed(`App a@${second}`)],
    writes: [`App b@${100 + second}`],
  });
  const runs = [1, 2, 3, 4, 5].map((second) =>
    run(
      second,
      "apps",
      "App a",
      second === 1 ? write(1) : { causes: [timer], writes: [`Job j@${second + 50}`] },
    ),
  );
  const last = run(9, "jobs", "Job j", { causes: [changed("Job j@54")] });
  expect(treeOf([...runs, last], last, 2)).toEqual([
    "App a",
    "  apps a success",
    "  then apps a success",
    "  then apps a success",
    "  then apps a success",
    "    jobs j success <- write 0",
    "1 more",
  ]);
});

test("a record that names itself as its cause is not followed forever", () => {
  const ring = run(1, "apps", "App a", { causes: [changed("App b@11")], writes: ["App a@10"] });
  const other = run(1, "apps", "App b", { causes: [changed("App a@10")], writes: ["App b@11"] });
  expect(treeOf([ring, other], ring)).toContain("unknown");
});

test("has no cause if the record has none, or the first run of a timer is unknown", () => {
  const bare = run(1, "apps", "App a", { causes: [], moreCauses: 3 });
  const due = run(120, "apps", "App b", { causes: [timer] });
  expect(treeOf([bare, due], bare)).toEqual(["unknown", "  apps a success"]);
  expect(treeOf([bare, due], due)).toEqual(["timer", "  apps b success"]);
});

import { expect, test } from "vitest";
import { documentOf } from "./document.ts";
import type { QueueSeries } from "./queue.ts";
import type { Results } from "./results.ts";
import type { ScaleResults } from "./scale/scale.ts";
import type { WebhookRun } from "./webhooks/rounds.ts";

const sizes = {
  rounds: 1,
  hikawas: 500,
  singles: 50,
  idle: 10_000,
  requests: 60_000,
  deliveries: 40_000,
  remoteSyncs: 10_000,
  saves: 20,
  applications: 1000,
  openings: 20,
};
const usage = new Map();

const queueAt = (requestsPerSecond: number): Pick<Results, "queue"> => {
  const runs = [{ requests: 1, requestsPerSecond, ownedShare: 0, usage }];
  return { queue: [{ mode: "queue", load: "free", runs } satisfies QueueSeries] };
};

function webhooksAt(perSecond: number): Pick<Results, "webhooks"> {
  const run = { deliveries: 1, accepted: 1, perSecond, p50: 1, p99: 2, kept: 1, usage, othersCpuSeconds: 0 };
  return {
    webhooks: { denrei: [run], probot: [{ ...run, perSecond: 1000, kept: undefined } satisfies WebhookRun] },
  };
}

const headings = (text: string) => text.match(/^## .*$/gm);

test("document - a partial run replaces its parts and keeps the others", () => {
  const machine = new Map([
    ["CPU", "2"],
    ["Go", "1.26"],
  ]);
  const first = documentOf({ sizes, machine, ...queueAt(17_111) }).replace(
    /on \d{4}-\d\d-\d\d/,
    "on 2000-01-02",
  );
  const later = {
    sizes,
    machine: new Map([
      ["CPU", "4"],
      ["Probot", "14"],
    ] as const),
  };
  const second = documentOf({ ...later, ...webhooksAt(6222) }, first);
  const third = documentOf({ ...later, ...webhooksAt(6333) }, second);

  const all = [
    "## Goals",
    "## Ticket queue without work",
    "## Webhooks to one gateway",
    "## Machine",
    "## Method",
  ];
  expect(headings(first)).toEqual(all.filter((heading) => !heading.includes("Webhooks")));
  expect(headings(second)).toEqual(all);
  expect(headings(third)).toEqual(all);
  expect(second).toContain("on 2000-01-02: 1 round.\n\nFigures");
  expect(second).toMatch(/## Webhooks to one gateway\n\nMeasured separately, on 4, on (?!2000)/);
  expect(second).toMatch(/## Ticket queue without work\n\n\|/);
  expect(second.match(/^\| (CPU|Go|Probot) .*$/gm)?.map((row) => row.split(/ *\| */).slice(1, 3))).toEqual([
    ["CPU", "2"],
    ["Go", "1.26"],
    ["Probot", "14"],
  ]);
  for (const [text, webhooks, others] of [
    [second, "6\\.22", "6,333"],
    [third, "6\\.33", "6,222"],
  ] as const) {
    expect(text.match(/^\| ticket queue .* 17,111 \| +yes \|$/gm)).toHaveLength(1);
    expect(text.match(new RegExp(`^\\| webhooks .* ${webhooks} \\| +yes \\|$`, "gm"))).toHaveLength(1);
    expect(text).not.toContain(others);
  }
});

const replicasAt = (replicas: number): Pick<Results, "scale"> => ({
  scale: {
    sizes: {
      scaleObjects: [],
      scaleNamespaces: [],
      scaleFunctions: [],
      scaleReplicas: [replicas],
      scaleRequests: 30_000,
      scaleSingles: 300,
      scaleRounds: 1,
    },
    replicas: [{ replicas, startSeconds: 1, idle: { seconds: 60, usage }, events: [], requests: [] }],
  },
});

function namespacesAt(namespaces: number): Pick<Results, "scale"> {
  const memory = { uncollected: 300, collected: 200, peak: 400, heldBytes: 1 };
  const seconds = { startSeconds: 1, changeSeconds: 2, takeoverSeconds: 3 };
  const run = { namespaces, ...seconds, writesPerSecond: 20, memory, lists: 0, events: 3 };
  return { scale: { ...(replicasAt(1).scale as ScaleResults), replicas: undefined, namespaces: [run] } };
}

test("document - a run of scale replaces the measurements that ran, and a full run keeps all of them", () => {
  const machine = new Map([["CPU", "2"]]);
  const run = (on: string, ran: Pick<Results, "scale">) => ({
    sizes,
    machine: new Map([["CPU", on]]),
    ...ran,
  });
  const queue = documentOf({ sizes, machine, ...queueAt(17_111) });
  const first = documentOf(run("a", namespacesAt(123)), queue);
  const second = documentOf(run("b", replicasAt(45)), first);
  const third = documentOf(run("c", replicasAt(67)), second);
  const again = documentOf({ sizes, machine, ...queueAt(18_222) }, third, "all");

  expect(first).toMatch(/^## Scale$/m);
  expect(second).toMatch(
    /^### Opted-in namespaces\n\nMeasured on a, on .*^### Replicas\n\nMeasured on b, on /ms,
  );
  for (const text of [third, again]) {
    expect(text).toMatch(
      /^### Opted-in namespaces\n\nMeasured on a, on .*^### Replicas\n\nMeasured on c, on /ms,
    );
    expect(text).toMatch(/^\| namespaces .* 123 \|$/m);
    expect(text).toMatch(/^\| replicas .* 67 \|$/m);
    expect(text).not.toMatch(/^\| replicas .* 45 \|$/m);
    expect(headings(text)).toEqual([
      "## Goals",
      "## Ticket queue without work",
      "## Scale",
      "## Machine",
      "## Method",
    ]);
  }
  expect(again).toContain("18,222");
  expect(again).not.toContain("17,111");
  expect(again).not.toContain("Measured separately");
});

test("document - a full run keeps nothing else of the previous text", () => {
  const machine = new Map([["CPU", "2"]]);
  const before = documentOf({ sizes, machine, ...queueAt(15_333) });
  const text = documentOf({ sizes, machine, ...queueAt(17_111), ...webhooksAt(6222) }, before, "all");
  expect(text).not.toContain("15,333");
  expect(text).not.toContain("Measured separately");
  expect(headings(text)?.slice(1, 3)).toEqual(["## Ticket queue without work", "## Webhooks to one gateway"]);
});

import { expect, test } from "vitest";
import type { Usage } from "../processes.ts";
import type { EventsRun, RequestsRun } from "./load.ts";
import { scaleParts } from "./report.ts";
import type { ScaleResults } from "./scale.ts";

const sizes: ScaleResults["sizes"] = {
  scaleObjects: [],
  scaleNamespaces: [],
  scaleFunctions: [],
  scaleReplicas: [],
  scaleRequests: 200,
  scaleSingles: 10,
  scaleRounds: 1,
};

/** CPU of two servers and two hosts. */
const usageOf = (nats: number, host: number): ReadonlyMap<string, Usage> => {
  const one = (cpuSeconds: number): Usage => ({ cpuSeconds, rssMegabytes: 50, peakMegabytes: 60 });
  return new Map([
    ["nats-1", one(nats)],
    ["nats-2", one(nats)],
    ["host-1", one(host)],
    ["host-2", one(host)],
    ["benchmark", one(1000)],
  ]);
};

const events = (functions: number): EventsRun => ({
  events: 100,
  functions,
  seconds: 2,
  publishSeconds: 1,
  each: [1, 2, 3],
  last: [7, 8, 9],
  usage: usageOf(0.5, 2),
});

/** The cells of each row by its first cell. */
const rowsOf = (results: ScaleResults): Record<string, string[]> =>
  Object.fromEntries(
    scaleParts(results)
      .flatMap(({ body }) => body.split("\n"))
      .filter((line) => line.startsWith("| "))
      .map((line) =>
        line
          .slice(2, -2)
          .split(" | ")
          .map((cell) => cell.trim()),
      )
      .map(([name = "", ...cells]) => [name, cells]),
  );

test("scale - rates of functions are per event, and CPU is per event and function, of all servers", () => {
  const run = { functions: 2, servers: 3, full: [events(2)], paced: events(2) } as const;
  const rows = rowsOf({ sizes, functions: [run] });
  expect(rows["2, 3"]).toEqual(["50.0", "100", "20,000", "5,000", "2.00", "2.98", "8.00", "8.98"]);
});

test("scale - figures of replicas are per event, per request, and per idle replica", () => {
  const requests: RequestsRun = { requests: 50, seconds: 1, ownedShare: 0.2, usage: usageOf(0.25, 1) };
  const rows = rowsOf({
    sizes,
    replicas: [
      {
        replicas: 10,
        startSeconds: 3,
        idle: { seconds: 60, usage: usageOf(0.3, 0.6) },
        events: [events(1)],
        requests: [requests],
      },
    ],
  });
  expect(rows).toMatchObject({
    "routed and reconciled, events/s": ["50.0"],
    "– published, events/s": ["100"],
    "– CPU, NATS, µs/event": ["10,000"],
    "tickets, requests/s": ["50.0"],
    "– key already owned, %": ["20.0"],
    "– CPU, NATS, µs/request": ["10,000"],
    "idle: CPU, NATS, millicores": ["10.0"],
    "– per replica": ["1.00"],
    "idle: CPU, workers, millicores": ["20.0"],
  });
});

test("scale - the growth of a bridge is per object", () => {
  const memory = (collected: number) => ({ uncollected: 300, collected, peak: 400, heldBytes: 1 });
  const usage = (collected: number) => ({
    bridge: memory(collected),
    worker: memory(100),
    nats: 90,
    disk: 300,
    stored: 3_000_000,
  });
  const start = { seconds: 3, objects: 1000, memory: memory(140) };
  const rows = rowsOf({
    sizes,
    objects: [
      {
        objects: 1000,
        createdPerSecond: 500,
        empty: usage(130),
        full: usage(130.2),
        restarts: { resume: start, repeated: 0, list: start },
      },
    ],
  });
  expect(rows).toMatchObject({
    "– growth per object, collected, B": ["200"],
    "– in OBJECTS, B per object": ["3,000"],
    "bridge, all objects: collected (peak), MB": ["130 (400)"],
  });
});

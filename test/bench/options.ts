/** The options of `npm run bench`. */
import { Command, InvalidArgumentError } from "commander";
import { someOf } from "../harness/someof.ts";
import { type Side, sides } from "./contender.ts";
import { documentName } from "./document.ts";
import type { Sizes } from "./results.ts";
import { fullScale, type ScaleMeasurement, type ScaleSizes, scaleMeasurements } from "./scale/scale.ts";

/** The parts of a run. */
export const parts = [
  "throughput",
  "latency",
  "queue",
  "idle",
  "starts",
  "webhooks",
  "routing",
  "saves",
  "dashboard",
  "scale",
] as const;
export type Part = (typeof parts)[number];

/** Parts that run only if they are named, because they take hours. */
const onRequest: readonly Part[] = ["scale"];

/** Whether a part runs. */
export const isChosen = ({ only }: Pick<Options, "only">, part: Part): boolean =>
  only === undefined ? !onRequest.includes(part) : only.includes(part);

/** The command-line options. */
export interface Options extends Sizes, ScaleSizes {
  readonly only?: readonly Part[];
  readonly write?: true;
  readonly peers: readonly Side[];
  readonly before?: string;
  readonly profile?: string;
  readonly oneAccount?: true;
  readonly scale: readonly ScaleMeasurement[];
}

/** The default sizes. A run with smaller ones writes the document only on request. */
export const full: Sizes = {
  rounds: 5,
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

const count = (text: string): number => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError("expected a positive integer.");
  return value;
};

/** Parses numbers, separated by commas. */
const counts = (text: string): readonly number[] => text.split(",").map((one) => count(one.trim()));

/** The sides that Denrei can be compared with, beside {@link Options.before}. */
export const others = sides.filter((side) => side !== "denrei" && side !== "before");

/** Parses the command line. Ends the process after an error or `--help`. */
export const parseOptions = (): Options =>
  new Command("bench")
    .description(
      "compare the Zundoko function with the same operator in Go on controller-runtime, and the gateway with Probot",
    )
    .option("--rounds <count>", "rounds, in each of which all sides run", count, full.rounds)
    .option("--hikawas <count>", "Hikawas at once", count, full.hikawas)
    .option("--singles <count>", "Hikawas one after another, for latency", count, full.singles)
    .option("--idle <count>", "idle Hikawas, for memory", count, full.idle)
    .option("--requests <count>", "requests in a run of the ticket queue", count, full.requests)
    .option("--deliveries <count>", "webhooks to a gateway in a round", count, full.deliveries)
    .option("--remote-syncs <count>", "RemoteSyncs for the pushes", count, full.remoteSyncs)
    .option("--saves <count>", "files saved in denrei dev", count, full.saves)
    .option("--applications <count>", "Applications on the dashboard", count, full.applications)
    .option("--openings <count>", "how often their list is opened", count, full.openings)
    .option(
      "--only <parts>",
      `run only these parts, separated by commas: ${parts.join(", ")} (default: all but ${onRequest.join(", ")})`,
      someOf(parts),
    )
    .option(
      "--peers <peers>",
      `with throughput and latency, compare with only these: ${others.join(", ")}, or none`,
      (text: string) => (text === "none" ? [] : someOf(others)(text)),
      others,
    )
    .option(
      "--before <folder>",
      "with throughput and latency, compare with a checkout of another commit that has its packages installed",
    )
    .option(
      "--write",
      `write ${documentName}, only the parts that ran (default: if all parts ran at full size)`,
    )
    .option(
      "--profile <folder>",
      "write CPU profiles of our processes instead, during one run of the Hikawas or, with --only webhooks, of the gateway",
    )
    .option(
      "--one-account",
      "put all users of the bus into one account, to measure the cost of separate accounts",
    )
    .option(
      "--scale <measurements>",
      `with --only scale, run only these: ${scaleMeasurements.join(", ")}`,
      someOf(scaleMeasurements),
      scaleMeasurements,
    )
    .option("--scale-objects <counts>", "objects on one bridge", counts, fullScale.scaleObjects)
    .option("--scale-namespaces <counts>", "opted-in namespaces", counts, fullScale.scaleNamespaces)
    .option("--scale-functions <counts>", "functions of one kind", counts, fullScale.scaleFunctions)
    .option("--scale-replicas <counts>", "replicas of one function", counts, fullScale.scaleReplicas)
    .option(
      "--scale-requests <count>",
      "reconciles in a round of functions and replicas",
      count,
      fullScale.scaleRequests,
    )
    .option("--scale-singles <count>", "paced events, for latency", count, fullScale.scaleSingles)
    .option("--scale-rounds <count>", "rounds of functions and replicas", count, fullScale.scaleRounds)
    .showHelpAfterError("(see npm run bench -- --help)")
    .parse()
    .opts<Options>();

/** Writes docs/reliability.md: one row and one section per scenario. A partial run replaces only its own scenarios. */
import { readFile, writeFile } from "node:fs/promises";
import { cpus, totalmem } from "node:os";
import { fileURLToPath } from "node:url";
import { versions } from "../../deploy/local/index.ts";
import type { Verdict } from "./prove.ts";
import type { Outcome } from "./scenario.ts";
import type { Soaked } from "./soak/soak.ts";

/** Where it is written, as shown to the user. */
export const documentName = "docs/reliability.md";
const path = fileURLToPath(new URL(`../../${documentName}`, import.meta.url));

/** Options of a run. */
export interface RunFacts {
  readonly seed: number;
  /** Full size if undefined. */
  readonly minutes?: number | undefined;
}

/** Options of a soak. */
export interface SoakFacts {
  readonly minutes: number;
  readonly perSecond: number;
}

/** Writes the document and keeps the results of scenarios that did not run. */
export async function writeDocument(verdicts: readonly Verdict[], facts: RunFacts): Promise<void> {
  const before = await readFile(path, "utf8").catch(() => "");
  await writeFile(path, documentOf(before, verdicts, facts));
}

/** Writes the document with a new soak section and keeps the rest. */
export async function writeSoak(soaked: Soaked, facts: SoakFacts): Promise<void> {
  const before = await readFile(path, "utf8").catch(() => "");
  await writeFile(path, compose(before, [], [], soakSection(soaked, facts)));
}

/** The text of the document; `before` is the previous text. */
export const documentOf = (before: string, verdicts: readonly Verdict[], facts: RunFacts): string =>
  compose(
    before,
    verdicts.map((verdict) => [verdict.scenario.number, rowOf(verdict)]),
    verdicts.map((verdict) => [verdict.scenario.number, sectionOf(verdict, facts)]),
  );

/** A row or section with the number of its scenario. */
type Part = readonly [number: number, text: string];

function compose(
  before: string,
  newRows: readonly Part[],
  newSections: readonly Part[],
  newSoak?: string,
): string {
  const rows = new Map(
    [...before.matchAll(/^\| (\d+) \|.*$/gm)].map(([row, number]) => [Number(number), row]),
  );
  const parts = before
    .split(/^(?=## )/m)
    .slice(1)
    .map((section) => section.trimEnd());
  const sections = new Map(
    parts.flatMap((section): Part[] => {
      const number = /^## (\d+)\. /.exec(section)?.[1];
      return number === undefined ? [] : [[Number(number), section]];
    }),
  );
  const soak = newSoak ?? parts.find((section) => section.startsWith(soakHeading));
  for (const [number, row] of newRows) rows.set(number, row);
  for (const [number, section] of newSections) sections.set(number, section);
  const inOrder = <T>(parts: Map<number, T>): T[] =>
    [...parts].sort(([a], [b]) => a - b).map(([, part]) => part);
  const text = [intro(inOrder(rows), soak), ...inOrder(sections), ...(soak === undefined ? [] : [soak])].join(
    "\n\n",
  );
  return `${text}\n`;
}

const intro = (rows: readonly string[], soak: string | undefined): string => `# Reliability

Results of the fault tests, for readers who decide whether to rely on Denrei and for engineers who want the evidence. \`npm run prove\` writes this page.

## Summary

**Tested**: fault scenarios on real processes (kube-apiserver ${versions["kube-apiserver"]}, etcd ${versions.etcd}, nats-server ${versions["nats-server"]}, and Denrei as deployed). A check is a
condition that must hold during or after the faults. The column "Go, controller-runtime" shows the same operator on controller-runtime, measured in the same run.

**Machine**: ${cpus().length} × ${cpus()[0]?.model.trim() ?? "unknown"} with ${Math.round(totalmem() / 2 ** 30)} GiB, shared by servers, workers, and load.

| # | scenario | must hold | checks |
|---|---|---|---|
${rows.join("\n")}

${soak === undefined ? "" : `[Soak](#soak), a steady load to find memory leaks: ${hasBroken(soak) ? "**not all checks hold**" : "all checks hold"}.\n\n`}**Not covered**:

* Networks and zones between machines: everything runs on one machine.
* Power loss and damaged files: the faults kill processes, but not the machine. [Durability of JetStream](operations.md#durability-of-jetstream) covers these cases.
* Partitions between NATS servers, and more than one kube-apiserver or etcd.
* Other seeds and longer runs: each result is from one run.
* The PaaS and PipeCD functions, which have their own fault tests in \`test/faults\`, and the real GitHub.

Repeat a scenario with \`npm run prove -- --seed <seed> --only <name>\`. The seed fixes the random choices, but not the machine's scheduling.`;

/** Whether a section has a check that does not hold, which is bold. */
const hasBroken = (section: string): boolean => /^\| \*\*/m.test(section);

const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", " ");

function rowOf({ scenario, outcome, error, holds }: Verdict): string {
  const checks = outcome?.checks ?? [];
  const broken = checks.filter((check) => !check.holds);
  const kept = `${checks.length - broken.length} of ${checks.length} hold`;
  const failures = broken.map(({ what, found, limit }) => `${what}: ${found}, limit ${limit}`).join("; ");
  const result = error ? "**aborted**" : holds ? kept : `**${kept}**; ${failures}`;
  const cells = [
    String(scenario.number),
    `[${scenario.name}](#${anchorOf(scenario.number, scenario.name)})`,
    scenario.promise,
    result,
  ];
  return `| ${cells.map(cell).join(" | ")} |`;
}

const anchorOf = (number: number, name: string): string => `${number}-${name}`;

function sectionOf({ scenario, outcome, error, seconds }: Verdict, { seed, minutes }: RunFacts): string {
  const { number, name, title } = scenario;
  const size = minutes === undefined ? "full size" : `at a size for ${minutes} minutes`;
  const date = new Date().toISOString().slice(0, 10);
  return [
    `## ${number}. ${name}\n\n${title} Seed ${seed}, ${size}, ${date}, ${Math.round(seconds)} s.`,
    ...(outcome ? [`Injected: ${outcome.injected.join("; ")}.`] : []),
    ...(error ? [`Aborted: ${cell(error.message)}`] : []),
    ...(outcome ? [checksOf(outcome)] : []),
    ...(outcome?.figures?.length ? [figuresOf(outcome)] : []),
  ].join("\n\n");
}

const soakHeading = "## Soak";

function soakSection(soaked: Soaked, { minutes, perSecond }: SoakFacts): string {
  const date = new Date().toISOString().slice(0, 10);
  return [
    `${soakHeading}\n\nOne bridge, three workers, and the servers run under a steady load for ${minutes} minutes: ${perSecond} Hikawas a second are created, completed, and deleted. ` +
      "Memory is sampled every second, and in a Node process every ten seconds after a forced garbage collection. " +
      "The first third is ignored. Slopes are medians over all pairs of samples, with the 99 % interval (Theil, Sen). " +
      "The bridge grows with the deletions that it remembers, up to 10,000 per kind, for most of an hour. " +
      `${date}.`,
    checksOf(soaked),
    figuresOf(soaked),
  ].join("\n\n");
}

function checksOf({ checks }: Pick<Outcome, "checks">): string {
  const peer = checks.some((check) => check.peer !== undefined);
  return markdown(
    ["checked", "must hold", "found", ...(peer ? ["Go, controller-runtime"] : [])],
    checks.map((check) => [
      check.holds ? check.what : `**${check.what}**`,
      check.limit,
      check.found,
      ...(peer ? [check.peer ?? ""] : []),
    ]),
  );
}

function figuresOf({ figures = [] }: Pick<Outcome, "figures">): string {
  const peer = figures.some((each) => each.peer !== undefined);
  return markdown(
    ["figure", "found", ...(peer ? ["Go, controller-runtime"] : [])],
    figures.map(({ what, found, peer: theirs }) => [what, found, ...(peer ? [theirs ?? ""] : [])]),
  );
}

const markdown = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => "---"), ...rows].map((row) => `| ${row.map(cell).join(" | ")} |`).join("\n");

/** docs/reliability.md: one row and one section per scenario; a run of some scenarios renews theirs alone. */
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

/** How a run was asked for. */
export interface RunFacts {
  readonly seed: number;
  /** Undefined: full size. */
  readonly minutes?: number | undefined;
}

/** A soak, as it is written. */
export interface SoakFacts {
  readonly minutes: number;
  readonly perSecond: number;
}

/** Writes the document, with what it said before about the scenarios that did not run. */
export async function writeDocument(verdicts: readonly Verdict[], facts: RunFacts): Promise<void> {
  const before = await readFile(path, "utf8").catch(() => "");
  await writeFile(path, documentOf(before, verdicts, facts));
}

/** Writes the document with a new section about a soak, and everything else that it said before. */
export async function writeSoak(soaked: Soaked, facts: SoakFacts): Promise<void> {
  const before = await readFile(path, "utf8").catch(() => "");
  await writeFile(path, compose(before, [], [], soakSection(soaked, facts)));
}

/** The text of the document: `before` is the one that it renews. */
export const documentOf = (before: string, verdicts: readonly Verdict[], facts: RunFacts): string =>
  compose(
    before,
    verdicts.map((verdict) => [verdict.scenario.number, rowOf(verdict)]),
    verdicts.map((verdict) => [verdict.scenario.number, sectionOf(verdict, facts)]),
  );

/** A part of the document, by the number of its scenario. */
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
  const text = [
    intro(),
    [
      "| # | scenario | injected, how often | checked | result |",
      "|---|---|---|---|---|",
      ...inOrder(rows),
    ].join("\n"),
    ...inOrder(sections),
    ...(soak === undefined ? [] : [soak]),
  ].join("\n\n");
  return `${text}\n`;
}

const intro = (): string => `# Reliability

What the promises of the platform are worth: faults injected into real parts (kube-apiserver ${versions["kube-apiserver"]}, etcd ${versions.etcd},
nats-server ${versions["nats-server"]}, our processes as they are deployed), and what held. Written by \`npm run prove\`; each scenario names the seed that
makes its chance repeatable (what the scheduler of the machine decides is not), and \`npm run prove -- --seed <seed> --only <name>\` runs
it again. Figures are of ${cpus().length} × ${cpus()[0]?.model.trim() ?? "unknown"} with ${Math.round(totalmem() / 2 ** 30)} GiB, which the servers, the workers and the load share.
The peer is the same operator in Go on controller-runtime, measured in the same run.`;

const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", " ");

function rowOf({ scenario, outcome, error, holds }: Verdict): string {
  const checks = outcome?.checks ?? [];
  const kept = checks.filter((check) => check.holds).length;
  const result = error ? "broke off" : holds ? `holds (${kept} of ${checks.length})` : "**broken**";
  const cells = [
    String(scenario.number),
    `[${scenario.name}](#${anchorOf(scenario.number, scenario.name)})`,
    outcome?.injected.join("; ") ?? "–",
    checks.map(({ what }) => what).join("; "),
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
    ...(error ? [`It broke off: ${cell(error.message)}`] : []),
    ...(outcome ? [checksOf(outcome)] : []),
    ...(outcome?.figures?.length ? [figuresOf(outcome)] : []),
  ].join("\n\n");
}

const soakHeading = "## Soak";

function soakSection(soaked: Soaked, { minutes, perSecond }: SoakFacts): string {
  const date = new Date().toISOString().slice(0, 10);
  return [
    `${soakHeading}\n\nOne bridge, three workers and the servers under a steady load: ${perSecond} Hikawas a second are created, sung and deleted again, for ${minutes} minutes. ` +
      "Memory is sampled each second; of a Node process what it holds is read each ten seconds, after a forced collection. " +
      `The first third is left out. Slopes are medians of the slopes between all pairs of samples, with their interval of 99 % (Theil, Sen). ` +
      "The bridge grows by the deletions that it remembers, up to 10,000 of a kind: at three a second that takes most of an hour. " +
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

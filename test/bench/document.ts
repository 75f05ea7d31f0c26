/** Writes docs/benchmarks.md. */
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { rests } from "./latency.ts";
import { sections } from "./report.ts";
import type { Results } from "./results.ts";
import { perRepository } from "./routing.ts";
import { paceMillis, restMillis } from "./saves.ts";
import { scaleParts, scaleText, scaleTitle } from "./scale/report.ts";
import { roundsText, table } from "./table.ts";
import { connections, warmUp } from "./webhooks/rounds.ts";

/** Where it is written, as shown to the user. */
export const documentName = "docs/benchmarks.md";
const path = fileURLToPath(new URL(`../../${documentName}`, import.meta.url));

/** Whether all parts ran. */
export type Ran = "all" | "some";

/** Writes the document. A partial run replaces only its own parts, and any run keeps the measurements of scale that it did not repeat. */
export async function writeDocument(results: Results, ran: Ran): Promise<void> {
  const before = await readFile(path, "utf8").catch(() => "");
  await writeFile(path, documentOf(results, before, ran));
}

/** The text of the document; `before` is the previous text, or empty. */
export function documentOf(results: Results, before = "", ran: Ran = before === "" ? "all" : "some"): string {
  const [head = "", ...parts] = before.split(/^(?=## )/m);
  const earlier = new Map(parts.map((part) => bodyOf(part)));
  const bodies = new Map(ran === "all" ? [] : earlier);
  bodies.delete(method);
  bodies.delete(scaleTitle);
  for (const { title, body, sample } of sections(results)) {
    // Written below.
    if (title === scaleTitle) continue;
    const known = bodies.get(title);
    if (title === "Goals" || title === "Machine") {
      // A separate part names its own machine.
      const wins = title === "Goals" ? "later" : "earlier";
      bodies.set(title, known === undefined ? body : mergedTable(known, body, wins));
      continue;
    }
    const { machine } = results;
    const alone = `Measured separately, on ${machine.get("CPU")}, ${occasion(results, sample)}.`;
    bodies.set(title, ran === "all" ? body : `${alone}\n\n${body}`);
  }
  const scale = scaleOf(results, earlier.get(scaleTitle) ?? "");
  if (scale !== "") bodies.set(scaleTitle, scale);
  // The machine comes after the results.
  const machine = bodies.get("Machine") ?? "";
  bodies.delete("Machine");
  const all = [...bodies, ["Machine", machine] as const, [method, methodOf(results)] as const];
  const first = ran === "all" ? undefined : /Written by `npm run bench` (.*?)\.$/m.exec(head)?.[1];
  const written = first ?? occasion(results);
  return [
    intro(written, bodies.get("Goals") ?? ""),
    ...all.map(([title, body]) => `## ${title}\n\n${body}\n`),
  ].join("\n");
}

const method = "Method";

/** The measurements of scale, each with its machine and date. Those that did not run stay as they are in `earlier`. */
function scaleOf({ scale, machine }: Results, earlier: string): string {
  const [, ...kept] = earlier.split(/^(?=### )/m);
  const bodies = new Map(kept.map((part) => bodyOf(part)));
  const measured = `Measured on ${machine.get("CPU")}, on ${today()}.`;
  for (const { title, body } of scale ? scaleParts(scale) : []) bodies.set(title, `${measured}\n\n${body}`);
  const parts = [...bodies].map(([title, body]) => ({ title, body }));
  return parts.length === 0 ? "" : scaleText(parts);
}

function bodyOf(part: string): [title: string, body: string] {
  const end = part.indexOf("\n");
  return [part.slice(0, end).replace(/^#+ /, ""), part.slice(end).trim()];
}

const cellsOf = (text: string): string[][] =>
  text.split("\n").map((line) =>
    line
      .slice(2, -2)
      .split(" | ")
      .map((cell) => cell.trim()),
  );

/** Merges the rows by their first cell. */
function mergedTable(earlier: string, later: string, wins: "earlier" | "later"): string {
  const [head = [], , ...rows] = cellsOf(earlier);
  const more = cellsOf(later).slice(2);
  const merged = new Map([...rows, ...more, ...(wins === "earlier" ? rows : [])].map((row) => [row[0], row]));
  return table(head, [...merged.values()]);
}

const today = (): string => new Date().toISOString().slice(0, 10);

const occasion = ({ sizes }: Results, sample = roundsText(sizes.rounds)): string =>
  `on ${today()}: ${sample}`;

const intro = (written: string, goals: string): string => `# Benchmarks

Denrei compared with the same operator in Go on controller-runtime, and its webhook gateway compared with Probot. For readers who choose a platform,
and for engineers who tune it. Written by \`npm run bench\` ${written}.

Figures are medians of the rounds, with minimum and maximum in parentheses. A ratio is the median of the rounds' ratios: all sides of a round ran
within minutes of each other, so a slow machine affects all of them.

**Tested**: the Zundoko operator, as a function on Denrei and in Go (\`test/bench/peer\`: cached reads, owner index, \`MaxConcurrentReconciles\` 10, no
client-side rate limit), on the same kube-apiserver. All write the same fields. "Go" makes the same API calls as the function on Denrei. "Go, one write
per reconcile" is how such an operator is usually written, and makes more calls.

**Machine**: [one machine](#machine), shared by servers, workers, and load.

**Results**: ${resultsOf(goals)}

**Not covered**: several machines and their network; etcd with fsync and a running controller manager (off for both sides); other operators.
`;

/** Counts the reached goals and names the others. */
function resultsOf(goals: string): string {
  const [, ...rows] = cellsOf(goals).filter(([, goal = ""]) => !/^-+:$/.test(goal));
  const missed = rows.filter((row) => row[3] === "no");
  const lines = missed.map(([figure, goal, found]) => `* ${figure}: ${found}, goal ${goal}`);
  const reached = `${rows.length - missed.length} of ${rows.length} goals are reached.`;
  return missed.length === 0 ? reached : [`${reached} Missed:`, "", ...lines].join("\n");
}

const methodOf = ({
  sizes,
}: Results): string => `* One local platform serves the whole run. The sides take turns, and their order alternates. In each round, each side starts afresh on an
  empty cluster (and an empty bus), settles, and completes one Hikawa before the measurement.
* Denrei's processes run from the bundle, with the flags and variables of its image.
* ${sizes.hikawas} Hikawas with \`intervalMillis: 0\` are created, 8 at a time. All sides say Doko, Zun, Zun, Zun, Zun, Doko. Wall time runs from the first
  create to the watch event of the last \`status.kiyoshied\`. Every Hikawa is verified (spec, status, six numbered words, one Kiyoshi);
  a wrong one ends the run.
* API calls are the kube-apiserver's own count (\`apiserver_request_total\`) for the three kinds and for Events, without the benchmark's
  creates. A watch counts when it ends.
* CPU is user and system time from \`/proc/<pid>/stat\`, from the first create to 2 s after the end, to include deferred work. For Denrei, "controller" is bridge,
  workers, and nats-server together. "benchmark" creates and watches the Hikawas, and reads fewer events if a side writes less.
  "rest of the machine" is kernel, other programs, and hypervisor: noise, unless it is large.
* Latency: after the ${sizes.hikawas}, in the same processes, ${sizes.singles} Hikawas twice, one after another. "from rest" starts ${rests["from rest"]} ms after the last Hikawa completed, when
  all processes are idle; "back to back" starts at once, during cleanup. Latency runs from sending the create to the watch event of the first
  Zundoko, both in the benchmark's process.
* Ticket queue: three processes make ${sizes.requests.toLocaleString("en-US")} requests for 1,000 keys, up to 128 at once each, and handle each other's, 10 at once each. "queue
  alone" is the ticket, a confirmed acknowledgement, and the check for marks. "through the worker runtime" is a function that returns at once, with all
  of the worker's work, including reading the object. With keys mostly free, requests pause while 200 tickets wait, so nearly every request is
  a ticket. With keys mostly owned, each answer triggers the next request, and most requests leave a mark. Time runs until no ticket or mark is
  left, and every key must have been processed after its last request.
* Memory: resident set. Before the first figure, 300 Hikawas were completed, a quarter of the idle ones was created, and all were deleted. So
  compiled code and grown buffers do not count as cost of objects. "started" shows the memory before that. Idle Hikawas
  wait for a word due tomorrow. Each figure is the lowest sample of 45 idle seconds without a heap limit; V8 collects at its own pace, so these
  figures vary by tens of MB. "collected" is after a forced full collection, which shows the cost of the objects. An inspector session without a port
  forces it, so the processes run as in production. The Go runtime offers no such command from outside.
* Starts: a worker starts while a Hikawa waits for its first reconcile. Time runs from the start of its process to the watch event of the status.
  Memory is the lowest sample of 5 s, 10 s later. "all functions" is one bridge, one gateway, one worker of all built-in functions, and NATS, as
  the smallest profile has them: after 30 s, their CPU of 20 s, and their memory at the end.
* Webhooks: signed pushes with the 7 to 8 KB payloads that GitHub documents, each with its own ID, over ${connections} connections with one
  delivery at a time, from a process that prepared the requests. It shares the machine with only one gateway (\`denrei gateway\`) and its
  bus with file streams; no API server runs. Each receiver starts afresh in each round and takes ${warmUp.toLocaleString("en-US")} before ${sizes.deliveries.toLocaleString("en-US")} are measured. Denrei answers when the
  bus has stored the delivery, and the stream must then hold every accepted one. Probot (\`test/bench/webhooks/probot\`) checks the signature and calls an
  empty handler; it stores nothing. Neither logs deliveries. The sender measures from the first byte of a delivery to the last
  byte of its response; CPU is measured from the first delivery to 1 s after the last. A rejected or lost delivery ends the run.
* Pushes: ${sizes.remoteSyncs.toLocaleString("en-US")} RemoteSyncs are on the bus and in their function's indexes, ${perRepository} per repository: two follow the pushed branch, one
  another branch, and two follow pull requests into it. Each round pushes to 200 repositories, one after another. Time runs from the webhook's
  arrival at a worker until its last request is stored in the queue. Exactly four must be enqueued, or the run ends.
* Saves: \`denrei dev\` runs one function on its own platform. Its file is saved ${sizes.saves} times, with ${restMillis} ms of rest in between. From the save on,
  an object is created every ${paceMillis} ms. Time runs until the watch event, in the benchmark's process, of the first object written by the new code.
* Dashboard: Chromium without a cache opens \`/applications\` ${sizes.openings} times, logged in as a user who may read one namespace with
  ${sizes.applications.toLocaleString("en-US")} Applications. Time runs from the start of the navigation, by the page's clock. API server, dashboard, and browser share the machine.`;

/** docs/benchmarks.md */
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { rests } from "./latency.ts";
import { sections } from "./report.ts";
import type { Results } from "./results.ts";
import { perRepository } from "./routing.ts";
import { paceMillis, restMillis } from "./saves.ts";
import { table } from "./table.ts";
import { connections, warmUp } from "./webhooks/rounds.ts";

/** Where it is written, as shown to the user. */
export const documentName = "docs/benchmarks.md";
const path = fileURLToPath(new URL(`../../${documentName}`, import.meta.url));

/** Which of the parts have run. */
export type Ran = "all" | "some";

/** Writes the document of a run; a run of some parts renews theirs alone. */
export async function writeDocument(results: Results, ran: Ran): Promise<void> {
  const before = ran === "all" ? "" : await readFile(path, "utf8").catch(() => "");
  await writeFile(path, documentOf(results, before));
}

/** The text of the document: `before` is the one that is renewed, empty for a new one. */
export function documentOf(results: Results, before = ""): string {
  const [head = "", ...parts] = before.split(/^(?=## )/m);
  const bodies = new Map(parts.map((part) => bodyOf(part)));
  bodies.delete(method);
  for (const { title, body, sample } of sections(results)) {
    const known = bodies.get(title);
    if (title === "Goals" || title === "Machine") {
      // Of which machine a part is that ran by itself stands beside it.
      const wins = title === "Goals" ? "later" : "earlier";
      bodies.set(title, known === undefined ? body : mergedTable(known, body, wins));
      continue;
    }
    const { machine } = results;
    const alone = `By itself, on ${machine.get("CPU")}, ${occasion(results, sample)}.`;
    bodies.set(title, before === "" ? body : `${alone}\n\n${body}`);
  }
  // The machine comes after all that was measured on it.
  const machine = bodies.get("Machine") ?? "";
  bodies.delete("Machine");
  const all = [...bodies, ["Machine", machine] as const, [method, methodOf(results)] as const];
  const written = /Written by `npm run bench` (.*?)\.$/m.exec(head)?.[1] ?? occasion(results);
  return [intro(written), ...all.map(([title, body]) => `## ${title}\n\n${body}\n`)].join("\n");
}

const method = "Method";

function bodyOf(part: string): [title: string, body: string] {
  const end = part.indexOf("\n");
  return [part.slice("## ".length, end), part.slice(end).trim()];
}

/** The rows of both, those with the same first cell once. */
function mergedTable(earlier: string, later: string, wins: "earlier" | "later"): string {
  const cellsOf = (text: string) =>
    text.split("\n").map((line) =>
      line
        .slice(2, -2)
        .split(" | ")
        .map((cell) => cell.trim()),
    );
  const [head = [], , ...rows] = cellsOf(earlier);
  const more = cellsOf(later).slice(2);
  const merged = new Map([...rows, ...more, ...(wins === "earlier" ? rows : [])].map((row) => [row[0], row]));
  return table(head, [...merged.values()]);
}

const occasion = ({ sizes }: Results, sample = `${sizes.rounds} rounds`): string =>
  `on ${new Date().toISOString().slice(0, 10)}: ${sample}`;

const intro = (written: string): string => `# Benchmarks

The Zundoko operator as functions on Denrei, side by side with the same operator in Go on controller-runtime
(\`test/bench/peer\`: cached reads, owner index, \`MaxConcurrentReconciles\` 10, no client-side rate limit), on the same
kube-apiserver; and the gateway of webhooks beside Probot. Written by \`npm run bench\` ${written}.

Figures are medians of the rounds with the least and the greatest in parentheses. A ratio is the median of the rounds'
ratios: both sides of a round ran within a minute of each other, so a machine that slows down slows both.
`;

const methodOf = ({
  sizes,
}: Results): string => `* One local platform for the whole run. The sides take turns, never at once, and the one that begins alternates. Each
  starts afresh in each round on an empty cluster (and an empty bus), becomes quiet, and sings one Hikawa before
  anything is measured.
* ${sizes.hikawas} Hikawas with \`intervalMillis: 0\` are created by the benchmark, 8 at a time. Both sides sing Doko, Zun, Zun,
  Zun, Zun, Doko. Wall time runs from the first create to the watch event of the last \`status.kiyoshied\`. Then every
  song is checked: spec, status, six words with their numbers, one Kiyoshi. A round with a wrong song ends the run.
* API calls are what kube-apiserver itself counts (\`apiserver_request_total\`) for the three kinds and for Events,
  without the benchmark's own creates. A watch is counted when it ends.
* CPU is user and system time from \`/proc/<pid>/stat\`, from the first create to 2 s after the end, so that work that was
  put off counts. "controller" is for our side bridge, workers and nats-server together. "benchmark" is the process
  that creates and watches the Hikawas: the fewer writes a side makes, the fewer events it has to read. "everybody
  else" is the kernel, other programs and the hypervisor: noise, if it is more than a little.
* Latency: after the ${sizes.hikawas}, in the same processes, twice ${sizes.singles} Hikawas one after another: "from rest"
  ${rests["from rest"]} ms after the song of the one before is over, when everybody has finished with it and sleeps, as when a user
  creates one; "back to back" at once, while it is still being cleared away. From sending the create to the watch event of
  the first Zundoko, both in the benchmark's process.
* Ticket queue: three processes make ${sizes.requests.toLocaleString("en-US")} requests over 1,000 keys, up to 128 at once in each, and handle
  each other's, 10 at once in each. "Queue alone" is ticket, confirmed acknowledgement and look for marks. "Through the
  worker runtime" is a function that returns at once, with all that a worker does around it, the read of the object
  included. Where keys are mostly free, no requests are made while 200 tickets wait, so nearly each is a ticket of its own;
  where they are mostly owned, requests come as fast as they are answered and most end as a mark beside a ticket. Time runs
  until neither ticket nor mark is left, and for every key a ticket must have been taken up after its last request.
* Memory: resident set. Before the first figure 300 Hikawas were sung and a quarter of the idle ones created, and all of
  them deleted: code that was compiled and buffers that grew under load are no cost of an object that is there; what a
  process needs before any of it is in the column "started". Idle Hikawas wait for a word that is due
  tomorrow. Each figure is the least of the samples of 45 s in which nothing happens, with no heap limit set: V8 collects
  when it pleases, so these lie tens of MB apart in either direction. "collected" is the
  figure after a forced full collection, which shows what the objects cost. An inspector session without a port forces it, so
  the processes run as in production. The Go runtime has no such command from outside.
* Webhooks: pushes, signed, with the payloads of 7 to 8 KB that GitHub documents; each delivery has an id of its own. They
  come over ${connections} connections, one under way in each, from a process that has written the requests beforehand. It runs
  beside a gateway (\`denrei gateway\`) and its bus, whose streams are files, and nothing else: no API server. Each receiver starts
  afresh in each round and takes ${warmUp.toLocaleString("en-US")} before ${sizes.deliveries.toLocaleString("en-US")} are measured. Ours answers when the bus has stored the delivery,
  and afterwards the stream must hold each one that was accepted. Probot (\`test/bench/webhooks/probot\`) checks the signature
  and calls a handler that does nothing; it keeps nothing. Neither writes a line of log per delivery. From the first byte of
  a delivery to the last of its answer, as the sender sees it; CPU from the first delivery to 1 s after the last. A refused
  delivery, or one that is lost, ends the run.
* Pushes: ${sizes.remoteSyncs.toLocaleString("en-US")} RemoteSyncs are on the bus and in the indexes of their function, ${perRepository} of each repository: two follow the branch
  that is pushed to, one another branch, and two are about pull requests into it. 200 repositories are pushed to in each round,
  one after another. From the webhook in the hands of a worker to the last of its requests being stored in the queue: what is
  looked up, and what is written. Four must be woken, and nobody else, or the run ends.
* Saves: \`denrei dev\` runs one function on a platform of its own, and the file of the function is saved ${sizes.saves} times, with
  ${restMillis} ms of rest in between. From the save on an object is created every ${paceMillis} ms. Until the watch event, in the benchmark's
  process, of the first of these that the new code has written to.
* Dashboard: Chromium without a cache opens \`/applications\` ${sizes.openings} times, as somebody who is logged in and may read one namespace with
  ${sizes.applications.toLocaleString("en-US")} Applications in it. From the beginning of the navigation, by the page's own clock. API server, dashboard and browser
  share the machine.`;

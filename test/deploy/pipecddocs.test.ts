/** docs/pipecd.md documents exactly the reasons and variables of the code. */
import { execSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { functions } from "../../functions/index.ts";
import { root } from "./manifests.ts";

const read = (path: string): string => readFileSync(join(root, path), "utf8");
const text = read("docs/pipecd.md");
const folder = "functions/pipecd";
const sources = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts") && !/\.test\.ts$|generated/.test(path))
  .map((path) => read(join(folder, path)));

/** Text in backticks in the first column, or in the second when the first is a condition. */
const documented = new Set(
  [...(text.split("\n## Conditions and Events\n")[1] ?? "").matchAll(/^\|(.*?)\|(.*?)\|/gm)].flatMap(
    ([, first = "", second = ""]) =>
      [
        ...(/Ready|of Piped|of EventRegistration|^ $/.test(first) ? `${first} ${second}` : first).matchAll(
          /`([A-Za-z]+)`/g,
        ),
      ].map(([, name = ""]) => name),
  ),
);

/** Patterns for reasons in the code. */
const places = [
  /\b(?:BlockedError|WaitingError|TerminalError|blocked)\(\s*"([A-Z]\w+)"/g,
  /\b(?:ready|condition|withCondition)\(\s*"(?:True|False)",\s*"([A-Z]\w+)"/g,
  /\bctx\.event\(\s*"(?:Normal|Warning)",\s*"([A-Z]\w+)"/g,
  /\breason: "([A-Z]\w+)"/g,
  /\b(?:placeTaken =|removal:) "([A-Z]\w+)"/g,
  /\breason = \w+\(\w+\) \? "([A-Z]\w+)"/g,
  /\breason = \w+\(\w+\) \? "[A-Z]\w+" : "([A-Z]\w+)"/g,
  /\[Code\.\w+\]: \["([A-Z]\w+)"/g,
  /(?:\?\?|\breturn) \["([A-Z]\w+)"/g,
];
const written = sources.flatMap((source) =>
  places.flatMap((place) => [...source.matchAll(place)].map(([, reason = ""]) => reason)),
);
/** Reasons that the code composes, and those of the platform. */
const others = [
  ...["Environment", "Piped"].flatMap((kind) => [`${kind}NotFound`, `${kind}NotReady`]),
  ...["DatastoreNotReady", "FilestoreNotReady", "NotReady", "NotFound"],
  ...["ImageNotBuilt", "Failed", "Outdated"],
  ...["NameTaken", "Retrying", "RetriesExhausted", "InvalidSpec", "WorkerCrashed", "HotLoop"],
];

test("every reason is documented", () => {
  expect(written.length).toBeGreaterThan(40);
  expect([...new Set([...written, ...others])].filter((reason) => !documented.has(reason)).sort()).toEqual(
    [],
  );
});

test("no other reason is documented", () => {
  // Blocked requests have the same reasons in every function.
  const platform = read("bus/kube/blocker.ts") + read("bus/worker/refusal.ts");
  const blockers = [...platform.matchAll(/\breason: "([A-Z]\w+)"/g)].map(([, reason = ""]) => reason);
  const known = new Set([
    ...written,
    ...others,
    ...["DatastoreReady", "FilestoreReady", "Invalid"],
    ...blockers,
  ]);
  // Variables and fields are in the other columns.
  expect([...documented].filter((reason) => /^[A-Z][a-z]/.test(reason) && !known.has(reason)).sort()).toEqual(
    [],
  );
});

test("variables, annotations, and functions match the code", () => {
  const all = (pattern: RegExp, where: string) => [...new Set(where.match(pattern))].sort();
  const variables = /\bDENREI_PIPECD_[A-Z_]+\b/g;
  expect(all(variables, text)).toEqual(all(variables, sources.join("\n")));
  const ours = functions.map(({ name }) => name).filter((name) => name.startsWith("pipecd-"));
  const kinds = /^\| `.*$/gm;
  expect(ours.filter((name) => !text.match(kinds)?.join().includes(`\`${name}\``))).toEqual([]);
  expect(text).toContain("pipecd.kanatakita.com/skip-cleanup=true");
});

test("the sample splits into the files that are applied, in this order", () => {
  const [, command = ""] = /^(awk '.*' \S+)$/m.exec(text) ?? [];
  const cwd = mkdtempSync(join(tmpdir(), "pipecddocs-"));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  execSync(command.replace(/(\S+)$/, join(root, "$1")), { cwd });
  const kinds = readdirSync(cwd).map(
    (name) => `${name} ${parse(readFileSync(join(cwd, name), "utf8")).kind}`,
  );
  expect(kinds.sort()).toEqual([
    "sample-1.yaml Secret",
    "sample-2.yaml Minio",
    "sample-3.yaml Mysql",
    "sample-4.yaml ControlPlane",
    "sample-5.yaml Environment",
    "sample-6.yaml Piped",
    "sample-7.yaml Application",
  ]);
  for (const kind of kinds) expect(text).toContain(kind.split(" ")[0]);
});

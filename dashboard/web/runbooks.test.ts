import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { runbooksOf } from "./runbooks.ts";
import { figures } from "./src/bus/function/figures.ts";

const markdown = await readFile(new URL("../../docs/operations.md", import.meta.url), "utf8");

test("reads each section with its paragraphs, lists, code, and links", () => {
  const document = [
    "## Other",
    "### Not a runbook",
    "## Runbooks",
    "Text before the first section.",
    "### Requests wait",
    "1. **First** look, then *wait*:",
    "   * `a <b>`: see [dead letters](#dead-letters),",
    "     [rotation](#rotation), [queue](queue.md#lost), or [NATS](https://nats.io).",
    "```sh\nls\n```",
    "### Dead letters",
    "Replay.",
    "## After",
    "### Neither",
  ].join("\n");
  const link = (to: string, text: string) => ({ type: "link", to, of: [text] });
  const path = (to: string, text: string) => ({ type: "document", path: to, of: [text] });
  const inner = [
    { type: "code", text: "a <b>" },
    ": see ",
    link("/bus/runbooks/dead-letters", "dead letters"),
    ",\n",
    path("docs/operations.md#rotation", "rotation"),
    ", ",
    path("docs/queue.md#lost", "queue"),
    ", or ",
    link("https://nats.io", "NATS"),
    ".",
  ];
  const first = [{ type: "strong", of: ["First"] }, " look, then ", { type: "em", of: ["wait"] }, ":"];
  const paragraph = (of: unknown) => ({ type: "paragraph", of });
  const nested = { type: "list", isOrdered: false, items: [[paragraph(inner)]] };
  expect(runbooksOf(document)).toEqual([
    {
      ...{ id: "requests-wait", title: "Requests wait" },
      blocks: [
        { type: "list", isOrdered: true, items: [[paragraph(first), nested]] },
        { type: "code", text: "ls" },
      ],
    },
    { id: "dead-letters", title: "Dead letters", blocks: [paragraph(["Replay."])] },
  ]);
});

test("refuses markup that the page cannot show", () => {
  expect(() => runbooksOf("## Runbooks\n### One\n| a |\n|---|\n| b |")).toThrow("cannot show table");
  expect(() => runbooksOf("## Others")).toThrow('has no section "Runbooks"');
});

test("each figure links to existing runbooks", () => {
  const known = runbooksOf(markdown).map(({ id }) => id);
  for (const { title, runbooks } of figures)
    expect([title, runbooks.filter((id) => !known.includes(id)), runbooks.length > 0]).toEqual([
      title,
      [],
      true,
    ]);
});

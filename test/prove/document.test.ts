import { expect, test } from "vitest";
import { documentOf } from "./document.ts";
import type { Verdict } from "./prove.ts";

const verdict = (number: number, title: string): Verdict => ({
  scenario: {
    number,
    name: `name-${number}`,
    title,
    promise: "nothing is lost",
    fullMinutes: 1,
    tested: "always",
    run: () => Promise.reject(new Error("not run")),
  },
  outcome: { injected: ["faults: 3"], checks: [{ what: "lost", limit: "0", found: "0", holds: true }] },
  error: undefined,
  holds: true,
  seconds: 1,
});
const soak = "## Soak\n\nNothing grows.";

test("document - a partial run replaces its scenarios and keeps the others and the soak", () => {
  const first = documentOf("", [verdict(3, "Three."), verdict(1, "One.")], { seed: 1 });
  const second = documentOf(`${first}\n${soak}\n`, [verdict(3, "Three again.")], { seed: 2 });
  expect(second.match(/^## .*$/gm)).toEqual(["## Summary", "## 1. name-1", "## 3. name-3", "## Soak"]);
  expect(second).toContain("One. Seed 1");
  expect(second).toContain("Three again. Seed 2");
  expect(second).not.toContain("Three. Seed 1");
  expect(second.endsWith(`${soak}\n`)).toBe(true);
  expect(second.match(/^\| \d+ \|/gm)).toHaveLength(2);
  expect(documentOf(second, [], { seed: 3 })).toBe(second);
});

test("document - the summary names the checks that do not hold", () => {
  const holding = verdict(1, "One.");
  const check = { what: "pause", limit: "≤ 200 ms", found: "217 ms", holds: false };
  const outcome = { injected: [], checks: [...(holding.outcome?.checks ?? []), check] };
  const text = documentOf("", [holding, { ...verdict(2, "Two."), outcome, holds: false }], { seed: 1 });
  expect(text.match(/^\| \d+ \|.*$/gm)).toEqual([
    "| 1 | [name-1](#1-name-1) | nothing is lost | 1 of 1 hold |",
    "| 2 | [name-2](#2-name-2) | nothing is lost | **1 of 2 hold**; pause: 217 ms, limit ≤ 200 ms |",
  ]);
});

import { expect, test } from "vitest";
import { documentOf } from "./document.ts";
import type { Verdict } from "./prove.ts";

const verdict = (number: number, title: string): Verdict => ({
  scenario: {
    number,
    name: `name-${number}`,
    title,
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

test("document - a run of some scenarios renews theirs, and leaves the others and the soak as they are", () => {
  const first = documentOf("", [verdict(3, "Three."), verdict(1, "One.")], { seed: 1 });
  const second = documentOf(`${first}\n${soak}\n`, [verdict(3, "Three anew.")], { seed: 2 });
  expect(second.match(/^## .*$/gm)).toEqual(["## 1. name-1", "## 3. name-3", "## Soak"]);
  expect(second).toContain("One. Seed 1");
  expect(second).toContain("Three anew. Seed 2");
  expect(second).not.toContain("Three. Seed 1");
  expect(second.endsWith(`${soak}\n`)).toBe(true);
  expect(second.match(/^\| \d+ \|/gm)).toHaveLength(2);
  expect(documentOf(second, [], { seed: 3 })).toBe(second);
});

import { expect, test } from "vitest";
import { preload } from "./profiler/profiler.ts";
import { summary } from "./profilesummary.ts";

test("summary - leaves out idle time and the profiler's own calls", () => {
  const frame = (functionName: string, url = "") => ({ functionName, url, lineNumber: 0 });
  const text = summary({
    nodes: [
      { id: 1, callFrame: frame("(root)"), children: [2, 3, 5] },
      { id: 2, callFrame: frame("(idle)") },
      { id: 3, callFrame: frame("serve", preload), children: [4] },
      { id: 4, callFrame: frame("post", "node:inspector") },
      { id: 5, callFrame: frame("reconcile", "file:///app/reconcile.ts") },
    ],
    samples: [2, 4, 5],
    timeDeltas: [1_000_000, 2_000_000, 3_000_000],
  });
  expect(text).toContain("busy 3.0 of 6.0 s");
  expect(text).toContain("100.0 %  reconcile");
  expect(text).not.toContain("post");
});

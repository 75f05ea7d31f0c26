import { expect, test } from "vitest";
import { withConditions, withoutConditions } from "./conditions.ts";

const ready = { type: "Ready", status: "True", reason: "Done", message: "" } as const;
const at = (iso: string) => ({ generation: 3, now: new Date(iso) });

test("conditions - the transition time moves only when the status changes", () => {
  const first = withConditions(undefined, [ready], at("2026-01-01T00:00:00.5Z"));
  expect(first).toEqual([{ ...ready, lastTransitionTime: "2026-01-01T00:00:00Z", observedGeneration: 3 }]);
  const same = withConditions(first, [{ ...ready, message: "still" }], at("2026-01-02T00:00:00Z"));
  expect(same[0]?.lastTransitionTime).toBe("2026-01-01T00:00:00Z");
  const other = withConditions(same, [{ ...ready, status: "False" }], at("2026-01-03T00:00:00Z"));
  expect(other[0]?.lastTransitionTime).toBe("2026-01-03T00:00:00Z");
});

test("conditions - keeps others, and removes named ones", () => {
  const both = withConditions(undefined, [ready, { ...ready, type: "Stalled" }], at("2026-01-01T00:00:00Z"));
  expect(withoutConditions(both, "Stalled").map(({ type }) => type)).toEqual(["Ready"]);
  expect(withConditions(both, [{ ...ready, reason: "Again" }], at("2026-01-01T00:00:00Z"))[1]).toEqual(
    both[1],
  );
});

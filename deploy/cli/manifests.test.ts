import { expect, test, vi } from "vitest";
import { optIn } from "./manifests.ts";
import { AbsentError } from "./usage.ts";

vi.mock("../../functions/index.ts", async () => ({
  functions: [(await import("../../functions/zundoko/hikawa.ts")).default],
}));

test("opt-in - says so where no function has to do with Secrets", () => {
  const wanted = () => optIn(["team-a"], { platformNamespace: "denrei" });
  expect(wanted).toThrow(AbsentError);
  expect(wanted).toThrow(/expected a function that owns or watches Secrets, found none: .*nothing to opt in/);
});

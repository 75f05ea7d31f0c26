import { expect, test } from "vitest";
import { BlockedError } from "../../../bus/worker/errors.ts";
import { conditionsOf, newProgress, type Progress, setStep, warn } from "./status.ts";

const ready = (reported: Progress, blocked?: Parameters<typeof conditionsOf>[1]): string => {
  const { status, reason, message } = conditionsOf(reported, blocked).at(-1) ?? {};
  return `${status} ${reason}: ${message}`;
};

function reported(
  ...steps: Parameters<typeof setStep> extends [Progress, ...infer Rest] ? Rest[] : never
): Progress {
  const all = newProgress();
  for (const step of steps) setStep(all, ...step);
  return all;
}

test("is Ready when all steps are done", () => {
  const done = reported(
    ["SourceResolved", "True", "Resolved"],
    ["Built", "True", "Succeeded"],
    ["Deployed", "True", "Deployed", "it is there"],
  );
  expect(ready(done)).toBe("True Deployed: it is there");
});

test("has the reason of the first unfinished step, and Unknown for steps that were not reached", () => {
  const building = reported(
    ["SourceResolved", "True", "Resolved"],
    ["Built", "Unknown", "Building", "build 1"],
  );
  expect(ready(building)).toBe("False Building: build 1");
  expect(conditionsOf(building).map(({ type, status }) => `${type} ${status}`)).toEqual([
    "SourceResolved True",
    "Built Unknown",
    "Deployed Unknown",
    "Ready False",
  ]);
});

test("prefers a failed step over an unreached one", () => {
  expect(ready(reported(["Deployed", "False", "ApplicationConflict", "another one"]))).toBe(
    "False ApplicationConflict: another one",
  );
});

test("has the reason of the error that is thrown, as the platform would set it", () => {
  const failing = reported(
    ["SourceResolved", "False", "TokenRejected", "no"],
    ["Built", "False", "SecretNotFound", "none"],
  );
  expect(ready(failing, { reason: "SecretNotFound", message: "none" })).toBe("False SecretNotFound: none");
});

test("is Ready with a warning after other problems, and a failed step hides the warning", () => {
  const warned = reported(
    ["SourceResolved", "True", "Resolved"],
    ["Built", "True", "RebuildFailed", "build 2 failed"],
    ["Deployed", "True", "Deployed", "it is there"],
  );
  warned.warnings.push({ reason: "RebuildFailed", message: "build 2 failed." });
  warn(warned, new BlockedError("SecretNotFound", "no Secret.", 1000));
  expect(ready(warned)).toBe("True RebuildFailed: build 2 failed. no Secret.");
  expect(warned.delays).toEqual([1000]);
  setStep(warned, "Deployed", "False", "ApplicationNotFound", "none");
  expect(ready(warned)).toBe("False ApplicationNotFound: none");
});

test("limits messages to the length that the platform stores", () => {
  const long = "x".repeat(5000);
  const conditions = conditionsOf(reported(["Built", "False", "ImageRefused", long]), {
    reason: "R",
    message: long,
  });
  expect(Math.max(...conditions.map(({ message }) => message.length))).toBe(2000);
});

/** Rendered PipeCD configuration files against hand-written ones. */
import { expect, test } from "vitest";
import { parse } from "yaml";
import { controlPlaneConfig, pipedConfig } from "../../functions/pipecd/config.ts";
import { ControlPlane, Piped } from "../../functions/pipecd/kinds.ts";
import { backwards, documentOf, golden } from "./documents.ts";

const pipedID = "11111111-2222-3333-4444-555555555555";

test.each([
  ["L0", "l0", "l0-controlplane"],
  ["L0", "l0-controlplane-full", "l0-controlplane-full"],
  ["C", "c", "c-controlplane"],
  ["C", "c-controlplane-full", "c-controlplane-full"],
] as const)("a control plane of the profile %s: %s becomes %s", (profile, input, expected) => {
  const spec = documentOf(ControlPlane, input).spec!;
  const text = controlPlaneConfig(spec, profile);
  expect(parse(text)).toEqual(golden(expected));
  expect(parse(text, { version: "1.1" })).toEqual(golden(expected));
  expect(controlPlaneConfig(backwards(spec), profile)).toBe(text);
});

test.each([
  ["L0", "l0", "l0-piped"],
  ["L0", "l0-piped-full", "l0-piped-full"],
  ["C", "c", "c-piped"],
  ["C", "c-piped-full", "c-piped-full"],
  ["C", "v1", "v1-piped"],
  ["C", "v1-piped-full", "v1-piped-full"],
] as const)("an agent of the profile %s: %s becomes %s", (profile, input, expected) => {
  const spec = documentOf(Piped, input).spec!;
  const text = pipedConfig(spec, profile, { pipedID });
  expect(parse(text)).toEqual(golden(expected));
  expect(parse(text, { version: "1.1" })).toEqual(golden(expected));
  expect(pipedConfig(backwards(spec), profile, { pipedID })).toBe(text);
});

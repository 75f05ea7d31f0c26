/** Users edit the objects of PipeCD, one after the other, in one stack of each profile. */
import { afterAll, beforeAll, describe } from "vitest";
import { type Pipecd, type SampleObject, startPipecd } from "../harness/pipecd.ts";
import { agentTests } from "../harness/pipecdagents.ts";
import { applicationTests } from "../harness/pipecdapplications.ts";
import { planeTests } from "../harness/pipecdplanes.ts";
import { type EditedStacks, sideBySide, startStack } from "../harness/pipecdstack.ts";

let pipecd: Pipecd;
let stacks: EditedStacks;
beforeAll(async () => {
  pipecd = await startPipecd();
  const [c, l0] = await Promise.all([
    startStack(pipecd, "c", "edits-c", withMore),
    startStack(pipecd, "l0", "edits-l0", withMore),
  ]);
  stacks = { pipecd, c, l0 };
}, sideBySide.timeout);
afterAll(() => pipecd?.stop());

/** With a second project and a second repository. */
function withMore(object: SampleObject): SampleObject {
  const { kind, spec } = object;
  if (kind === "ControlPlane") spec.config.projects.push({ id: "second" });
  if (kind === "Piped")
    spec.config.repositories.push({
      repoId: "other",
      remote: "https://example.com/other.git",
      branch: "main",
    });
  return object;
}

// The order matters: the Piped is renamed and moves to the second project, and the Application is deleted.
describe("stores and control planes", () => planeTests(() => stacks));
describe("pipeds and environments", () => agentTests(() => stacks));
describe("applications", () => applicationTests(() => stacks));

import { expect, test } from "vitest";
import type { Stored } from "../../../bus/kube/object.ts";
import type { AppPipeline, Preview } from "../kinds/apppipeline.ts";
import type { SendContext } from "./piece.ts";
import { piecesOf } from "./pieces.ts";
import type { Notes } from "./record.ts";

const now = new Date("2026-01-02T03:04:05Z");
const context = "denrei/prod/team-a/web";
const pipeline = {
  metadata: { namespace: "team-a", name: "web", uid: "u1" },
  spec: { report: { comment: false } },
} as unknown as Stored<AppPipeline>;
const [first, second] = ["a", "b"].map((digit) => digit.repeat(40)) as [string, string];
const preview = (number: number, phase: Preview["phase"], headSHA = first): Preview => ({
  ...{ number, headSHA, since: "2026-01-02T03:04:05Z", phase },
  url: `https://pr-${number}.example.com`,
});

/** The statuses of commits as GitHub shows them: the last one of each commit and context. */
function commits(notes: readonly Notes[] = [], of = pipeline) {
  const all = new Map(notes.map((one) => [one.number, one]));
  const last = new Map<string, { state: string; description?: string; targetUrl?: string }>();
  let calls = 0;
  const client = {
    async createStatus(sha: string, status: { context: string; state: string }) {
      calls++;
      last.set(`${sha.slice(0, 1)} ${status.context}`, status);
    },
  } as unknown as SendContext["client"];
  return {
    all,
    last,
    states: () => Object.fromEntries([...last].map(([key, { state }]) => [key, state])),
    /** Reports changes, and returns the number of requests. */
    async tell(...previews: Preview[]): Promise<number> {
      const before = calls;
      for (const { number } of previews) if (!all.has(number)) all.set(number, { number });
      for (const piece of piecesOf({ pipeline: of, context }, previews, all, now))
        await piece.send({ pipeline: of, context, client, signal: new AbortController().signal });
      return calls - before;
    },
  };
}

test("gives each pull request with a shared commit its own status, and combines them in the pipeline's", async () => {
  const { tell, states, last } = commits();
  await tell(preview(7, "Building"), preview(9, "Ready"));
  expect(states()).toEqual({
    [`a ${context}`]: "pending",
    [`a ${context}/pr-7`]: "pending",
    [`a ${context}/pr-9`]: "success",
  });
  expect(last.get(`a ${context}`)?.description).toBe(
    "#7: The preview is being built; #9: The preview is ready",
  );
  expect(last.get(`a ${context}/pr-9`)?.targetUrl).toBe("https://pr-9.example.com");
  expect(await tell(preview(7, "Building"), preview(9, "Ready"))).toBe(0);
  await tell(preview(7, "Failed"), preview(9, "Building"));
  expect(states()[`a ${context}`]).toBe("failure");
  await tell(preview(7, "Ready"), preview(9, "Ready"));
  expect(new Set(Object.values(states()))).toEqual(new Set(["success"]));
});

test("keeps the status of the other when one pull request is closed or gets another commit", async () => {
  for (const leave of [[], [preview(7, "Building", second)]]) {
    const { tell, states } = commits();
    await tell(preview(7, "Building"), preview(9, "Building"));
    await tell(...leave, preview(9, "Building"));
    expect(states()[`a ${context}`]).toBe("pending");
    expect(states()[`a ${context}/pr-7`]).toBe("success");
    await tell(...leave, preview(9, "Ready"));
    expect(states()).toMatchObject({ [`a ${context}`]: "success", [`a ${context}/pr-9`]: "success" });
  }
});

test("gives a commit with one pull request only the status of the pipeline's context", async () => {
  const { tell, states } = commits();
  await tell(preview(7, "Building"), preview(9, "Ready", second));
  expect(states()).toEqual({ [`a ${context}`]: "pending", [`b ${context}`]: "success" });
  await tell();
  expect(states()[`a ${context}`]).toBe("success");
});

test("ends pending statuses when statuses are turned off", async () => {
  const { tell, all, states } = commits();
  await tell(preview(7, "Building"));
  const off = { ...pipeline, spec: { report: { comment: false, commitStatus: false } } } as typeof pipeline;
  const without = commits([...all.values()], off);
  await without.tell(preview(7, "Building"));
  expect(without.states()).toEqual({ [`a ${context}`]: "success" });
  expect(await without.tell(preview(7, "Building"))).toBe(0);
  expect(states()).toEqual({ [`a ${context}`]: "pending" });
});

test("ends a pending status under the former name like its successor, and then leaves it alone", async () => {
  for (const [phase, state] of [
    ["Ready", "success"],
    ["Failed", "failure"],
    ["Expired", "success"],
  ] as const) {
    const { tell, states } = commits([{ number: 7, status: "d", pendingSHA: first }]);
    await tell(preview(7, "Building"));
    expect(states()).toEqual({ [`a ${context}`]: "pending" });
    await tell(preview(7, phase));
    expect(states()).toMatchObject({ "a modoki/web": state });
    expect(await tell(preview(7, phase))).toBe(0);
  }
  const superseded = commits([{ number: 7, status: "d", pendingSHA: first }]);
  await superseded.tell(preview(7, "Building", second));
  expect(superseded.last.get("a modoki/web")).toMatchObject({
    state: "success",
    description: expect.stringContaining("later commit"),
  });
  const closed = commits([{ number: 7, status: "d", pendingSHA: first }]);
  await closed.tell();
  expect(closed.states()).toEqual({ "a modoki/web": "success" });
});
